"""A PostgreSQL server for tests and benchmarks: on this machine only, for as long as they need it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class NoServer(Exception):
    """Why no server can be started here."""


class Server:
    """A server with a database of its own in a new folder, on a free port of the loopback address.

    As root, which PostgreSQL refuses to run as, it runs as the user ``postgres``. ``durable=False`` does not
    wait for the disk: for tests.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self._bin = programs()
        self._user: dict[str, Any] = {}
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            self._user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self._folder = Path(tempfile.mkdtemp(prefix="sondage-postgres-", dir="/tmp"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
        )
        self._settings += "" if durable else " -c fsync=off"
        try:
            if self._user:
                shutil.chown(self._folder, "postgres", "postgres")
            self._run("initdb", "-U", "app", "--auth=trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
            self.start()
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise NoServer(f"PostgreSQL does not start: {error}") from error

    @property
    def address(self) -> str:
        """The address by which journals find the server."""
        return f"postgresql://app@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and return when it answers."""
        log = str(self._folder / "log")
        self._run("pg_ctl", "-l", log, "-w", "-t", "60", "-o", self._settings, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: ``fast`` ends every connection, ``immediate`` is as if the power had failed."""
        self._run("pg_ctl", "-m", mode, "-w", "stop")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop("immediate")
        except subprocess.SubprocessError:  # it is stopped already
            pass
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), "-D", str(self._folder / "data"), *arguments]
        subprocess.run(
            command,
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            **self._user,
        )


def programs() -> Path:
    """The folder of PostgreSQL's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, timeout=60)
        places.append(Path(said.stdout.strip()))
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    raise NoServer("PostgreSQL is not installed (on Debian and Ubuntu: apt-get install postgresql)")
