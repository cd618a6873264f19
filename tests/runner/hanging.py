"""Tests and runs that do not end: thread dumps of their JVMs, and the end of their processes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from runner.machine import Watch

#: jstack waits for a safepoint of the JVM, which a JVM without memory may never reach.
DUMP_SECONDS = 30
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
