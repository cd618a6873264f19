"""Thread dumps and the termination of processes, for tests and runs that do not end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from runner.machine import Watch

#: The timeout of jstack, which waits for a safepoint of the JVM. A JVM that is out of memory may never reach one.
DUMP_SECONDS = 30
#: A text that only the command line of the sbt process contains.
SBT = "sbt-launch"
#: The number of connections to open. ScalaTest already stops waiting after a smaller number of failed connections.
CONNECTIONS = 5
#: The state of a listening socket in /proc/net/tcp.
LISTENS = "0A"
SUITE_FRAME = re.compile(r"\tat (?:app//)?((?:iceberglite|org\.apache\.spark)\.[\w.]*?\w+Suite)\b.*\(([\w.]+:\d+)\)")


def thread_dump(pid: int) -> str:
    """Return a thread dump of a JVM; the empty string if the JVM does not answer."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            ["jstack", str(pid)], capture_output=True, text=True, check=False, timeout=DUMP_SECONDS
        ).stdout
    return ""


def running_suites(dump: str) -> str:
    """Return the suites in a thread dump, each with the position of its innermost frame."""
    positions: dict[str, str] = {}
    for name, position in SUITE_FRAME.findall(dump):
        positions.setdefault(name, position)
    return ", ".join(f"{name} ({position})" for name, position in positions.items())


def release(watch: Watch) -> None:
    """Let sbt continue after a test JVM died.

    The part of ScalaTest that runs in sbt waits without limit until the JVM connects again. It stops waiting if several
    connections are closed immediately after they were opened. Therefore this function opens and closes connections.
    JVMs that are already connected are not affected. A JVM that is starting may fail, but the run has failed anyway.
    """
    for pid, command in watch.descendants().items():
        if SBT in command:
            for port in _listening(pid):
                for _ in range(CONNECTIONS):
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                        pass


def _listening(pid: int) -> list[int]:
    """Return the TCP ports on which a process accepts connections; empty on systems without /proc."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):
            sockets.update(re.findall(r"socket:\[(\d+)\]", str(descriptor.readlink())))
    ports = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENS and fields[9] in sockets:
                    ports.append(int(fields[1].rpartition(":")[2], 16))
    return ports


class Deadline:
    """Ends all processes of a run that takes too long.

    Without it, a caller that limits the time of the run, such as CI, would end the run without a report.
    """

    def __init__(self, minutes: float, watch: Watch, folder: Path, report: Callable[[str], None]) -> None:
        self._minutes = minutes
        self._watch = watch
        self._folder = folder
        self._report = report
        self._timer = threading.Timer(minutes * 60, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self._report(f"the run was ended after {self._minutes:g} minutes")
        for pid in self._watch.jvms():
            label, dump = self._watch.label(pid), thread_dump(pid)
            file = self._folder / f"hanging-{label.replace(' ', '-')}-{pid}.txt"
            file.write_text(dump)
            suites = running_suites(dump) or "no suite" if dump else "unknown, because jstack got no answer"
            self._report(f"{label} (process {pid}) was still running: {suites}; see {file.name} in {self._folder.name}")
        for pid, command in self._watch.descendants().items():
            print(f"Ending process {pid}: {command[:200]}", flush=True)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
