"""Servers that all test processes of a run share. Each process creates its own databases or buckets in them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from servers.kinds import Facts
from servers.process import ROOT, START_SECONDS

#: The environment variable with the path of a directory. For each shared server, a file in this directory has its
#: connection properties.
SHARED = "ICEBERG_LITE_SERVERS"
KINDS = ("postgres", "s3")


@contextlib.contextmanager
def share(directory: Path) -> Iterator[list[int]]:
    """Run the shared servers until the block ends, and write their connection properties to files in the directory."""
    with contextlib.ExitStack() as stack:
        started = {}
        for kind in KINDS:
            command = [sys.executable, "-m", "servers", kind]
            process = stack.enter_context(
                subprocess.Popen(command, cwd=ROOT / "tests", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            assert process.stdin is not None
            stack.callback(process.stdin.close)
            started[kind] = process
        for kind, process in started.items():
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"The {kind} server did not start: its output is above")
            incomplete = directory / f"{kind}.tmp"
            incomplete.write_text(line)
            incomplete.rename(directory / f"{kind}.json")
        yield [process.pid for process in started.values()]


def shared_server(kind: str) -> Facts | None:
    """Return the connection properties of a shared server; `None` if each process starts its own server."""
    directory = os.environ.get(SHARED)
    if directory is None or kind not in KINDS:
        return None
    file = Path(directory) / f"{kind}.json"
    deadline = time.monotonic() + START_SECONDS
    while not file.exists():
        if time.monotonic() > deadline:
            raise SystemExit(f"The {kind} server of the run did not start: there is no {file}")
        time.sleep(0.05)
    facts: Facts = json.loads(file.read_text())
    return facts
