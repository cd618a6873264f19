"""Common code of the servers: free ports, class paths, and processes that end with their parent."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HOST = "127.0.0.1"
START_SECONDS = 240


#: The ports that this process has received, whose servers may not have started yet.
_received: set[int] = set()


def free_port() -> int:
    """Return a free port, different from all ports that this process has received before.

    It is below the ports that systems assign to outgoing connections. Otherwise, a connection of another test could
    take the port before the server does.
    """
    while True:
        port = random.randrange(15000, 30000)
        if port in _received:
            continue
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("", port))
            _received.add(port)
            return port


def jars(server: str) -> list[str]:
    """Return the class path of a server, which `sbt servers/fetch` has downloaded."""
    listed = ROOT / ".tools" / "servers" / f"{server}.classpath"
    if not listed.exists():
        raise SystemExit(f"The {server} server has not been downloaded: run `sbt servers/fetch`")
    return listed.read_text().split()


def answers(port: int) -> bool:
    """Return whether a port accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def running(
    command: list[str],
    log: Path,
    ready: Callable[[], bool],
    environment: dict[str, str] | None = None,
    user: str | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends, and write its output to `log`. Errors quote the end of this file."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            user=user,
            cwd=log.parent,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not ready():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{command[0]} does not answer:\n{log.read_text(errors='replace')[-4000:]}")
                time.sleep(0.05)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(stop)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
