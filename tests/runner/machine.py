"""The machine on which tests run: its temporary directory, the processor time of processes, and its load."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")
NEEDED_BYTES = 4 << 30
LABEL = re.compile(r"-Diceberglite\.(project|tier)=(\w+)")


@contextlib.contextmanager
def temporary() -> Iterator[Path]:
    """Create a directory for the files of a run.

    The directory is in memory if the file system in memory has enough space and can run programs, otherwise on disk.
    """
    with tempfile.TemporaryDirectory(prefix="iceberg-lite-", dir=_memory(), ignore_cleanup_errors=True) as directory:
        # Some servers run as another user, who must have access to this directory.
        Path(directory).chmod(0o755)
        yield Path(directory)


def _memory() -> Path | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = os.statvfs(MEMORY)
        available = int(re.findall(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[0]) << 10
        # Database drivers and codecs unpack native libraries into the temporary directory, and load them from it.
        allows_programs = not status.f_flag & os.ST_NOEXEC
        # Require twice as much available memory, because the tests themselves also need memory.
        if allows_programs and shutil.disk_usage(MEMORY).free > NEEDED_BYTES and available > 2 * NEEDED_BYTES:
            return MEMORY
    return None


class Watch(threading.Thread):
    """Samples, once a second, the processor time of the descendants of this process, and the load of the machine.

    The time of a process counts for the project in its command line (`-Diceberglite.project=core`) or, if its process
    id is in `roots`, for the label in `roots`. If it has neither, the time counts for the nearest ancestor with a
    project or a label. On systems without /proc nothing is sampled.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.roots: dict[int, str] = {}
        self._labels: dict[tuple[int, int], str | None] = {}
        self._seconds: dict[tuple[int, int], tuple[str, float]] = {}
        self._loads: list[tuple[float, float]] = []
        self._ended = threading.Event()
        self._tick = os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Sample until the block ends."""
        while Path("/proc/self/stat").exists() and not self._ended.wait(1):
            with contextlib.suppress(OSError, ValueError):
                running = float(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1
                self._loads.append((time.time(), running / (os.cpu_count() or 1)))
            self._sample()

    def cpu(self) -> dict[str, float]:
        """Return the seconds of each project. The slow tier of a project has its own label, such as `core slow`."""
        totals: dict[str, float] = {}
        for label, seconds in list(self._seconds.values()):
            totals[label] = totals.get(label, 0.0) + seconds
        return totals

    def load(self, start: float, end: float) -> float:
        """Return the average number of runnable processes for each processor between two times, at least one."""
        loads = [max(1.0, load) for sampled, load in self._loads if start - 1 <= sampled <= end + 1]
        return sum(loads) / len(loads) if loads else 1.0

    def jvms(self) -> list[int]:
        """Return the process ids of running test JVMs."""
        alive = {pid: int(stat[19]) for pid, stat in _processes().items()}
        return [pid for (pid, start), label in self._labels.items() if label and alive.get(pid) == start]

    def descendants(self) -> dict[int, str]:
        """Return the running processes of this run with their command lines."""
        found = {}
        for pid in _processes():
            with contextlib.suppress(OSError):
                if self._below(pid):
                    found[pid] = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").strip()
        return found

    def label(self, pid: int) -> str:
        """Return the label of a test JVM that `jvms` returned."""
        return next((label for (found, _), label in self._labels.items() if found == pid and label), "unknown")

    def _sample(self) -> None:
        stats = _processes()
        trees: dict[tuple[int, int], tuple[str, float]] = {}
        for pid, stat in stats.items():
            found = self._root(pid, stats)
            if found is None:
                continue
            root, label = found
            # For sbt, exclude the time of its ended child processes, because it was counted for their own labels.
            fields = stat[11:13] if self.roots.get(pid) == "build" else stat[11:15]
            key = (root, int(stats[root][19]))
            seconds = sum(map(int, fields)) / self._tick
            trees[key] = (label, trees.get(key, (label, 0.0))[1] + seconds)
        for key, (label, seconds) in trees.items():
            self._seconds[key] = (label, max(seconds, self._seconds.get(key, (label, 0.0))[1]))

    def _root(self, pid: int, stats: dict[int, list[str]]) -> tuple[int, str] | None:
        """Return the process itself or its nearest ancestor that has a label, and the label."""
        while pid in stats:
            label = self._label(pid, int(stats[pid][19])) or self.roots.get(pid)
            if label is not None:
                return pid, label
            pid = int(stats[pid][1])
        return None

    def _label(self, pid: int, start: int) -> str | None:
        if (pid, start) not in self._labels:
            text = ""
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
                # sbt passes the options of a JVM in a file.
                for file in re.findall(r"@([^\0]*sbt-args[^\0]*)", text):
                    text += Path(file).read_text(errors="replace")
            found = dict(LABEL.findall(text)) if self._below(pid) else {}
            fast = found.get("tier", "fast") == "fast"
            self._labels[pid, start] = found["project"] + ("" if fast else " slow") if "project" in found else None
        return self._labels[pid, start]

    def _below(self, pid: int) -> bool:
        """Return whether a process belongs to this run; other runs may be active at the same time."""
        stats = _processes()
        while pid in stats:
            if pid in self.roots:
                return True
            pid = int(stats[pid][1])
        return False


def _processes() -> dict[int, list[str]]:
    """Return the fields of /proc/<pid>/stat after the name: state, parent, ..., by process."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            found[int(entry.parent.name)] = entry.read_text(errors="replace").rpartition(")")[2].split()
    return found
