"""Settings of all tests."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from sondage.testing.postgres import NoServer, Server

# How long an example takes says more of the machine than of the code; and every run tries the same ones.
settings.register_profile("sondage", deadline=None, derandomize=True)
settings.load_profile("sondage")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, started when the first test asks for it."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'sondage[postgres]'")
    try:
        server = Server()
    except NoServer as error:
        pytest.skip(str(error))
    with server:
        yield server
