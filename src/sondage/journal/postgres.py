"""A journal in a PostgreSQL database, shared by the people and programs of a team."""

from __future__ import annotations

from typing import Self

from sondage.journal.postgres_server import PostgresServer
from sondage.journal.sql import SqlJournal


class PostgresJournal(SqlJournal):
    """PostgreSQL, at ``postgresql://user@host:5432/database`` and whatever else libpq takes in an address.

    Two options in the address are Sondage's own: ``?schema=team`` keeps studies apart from those of other
    teams (default: ``sondage``), ``?mode=ro`` only reads. Passwords are best kept out of the address, in
    libpq's password file or PGPASSWORD; no message shows one.
    """

    alias = "postgresql"

    @classmethod
    def at(cls, address: str, *, must_exist: bool = False) -> Self:
        return cls(address, must_exist=must_exist)

    def __init__(self, address: str, *, must_exist: bool = False) -> None:
        super().__init__(PostgresServer(address), must_exist=must_exist)
