"""Progress bars for long-running Spark jobs, in terminals and notebooks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from pyspark_iceberg.errors import IcebergLiteError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REFRESH_SECONDS = 0.2
_LAST_TASKS_SECONDS = 2.0


@contextmanager
def show_progress(spark: SparkSession, file: TextIO | None = None, disable: bool = False) -> Iterator[None]:
    """Show a progress bar for each activity of Spark within a `with` statement.

    An activity is a query or a step of a procedure, such as `Rewriting 120 data files (1.5 GB) of lite.db.t`. The
    bar of an activity counts tasks, and shows the bytes that these tasks have read and written. If the driver does the
    work of a procedure without a job, as for small tables, the bar counts the metadata files that the driver
    processes::

        with show_progress(spark):
            Table(spark, "db.t").rewrite_data_files()

    Args:
        spark: the session; the bars show the jobs of all threads that use it.
        file: where to write the bars; by default to stderr, and in a notebook to the output of the cell.
        disable: whether to show nothing.

    Raises:
        IcebergLiteError: the package `tqdm` is not installed, or the session uses Spark Connect, which does not report
            the progress of jobs.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as e:
        raise IcebergLiteError("Progress bars require tqdm: pip install 'pyspark-iceberg[progress]'") from e
    context, jvm = getattr(spark, "_sc", None), getattr(spark, "_jvm", None)
    if context is None or jvm is None:
        raise IcebergLiteError("Progress bars are not available with Spark Connect")
    if disable:
        yield
        return
    progress = jvm.iceberglite.spark.cluster.JobProgress(context._jsc.sc())
    bars = _Bars(progress, lambda name, total: tqdm(desc=name, total=total, unit="task", file=file))
    progress.start()
    thread = threading.Thread(target=bars.run, name="progress bars", daemon=True)
    thread.start()
    try:
        yield
    finally:
        try:
            bars.ended.set()
            thread.join()
        finally:
            # An error here, for example because Spark has been stopped, must not hide an error of the statement.
            with suppress(Exception):
                progress.stop()


class _Bars:
    """Shows the activities that the JVM reports."""

    def __init__(self, progress: Any, new_bar: Callable[[str, int], Any]):
        self.ended = threading.Event()
        self._progress = progress
        self._new_bar = new_bar
        self._bar: Any = None
        self._number = 0

    def run(self) -> None:
        """Update the bars until `ended` is set.

        Then wait for the report that the last job has ended, for at most `_LAST_TASKS_SECONDS`, and close the bar.
        """
        while not self.ended.wait(_REFRESH_SECONDS):
            self._update()
        deadline = time.monotonic() + _LAST_TASKS_SECONDS
        while self._update() and time.monotonic() < deadline:
            time.sleep(_REFRESH_SECONDS / 4)
        if self._bar is not None:
            self._bar.close()

    def _update(self) -> bool:
        """Update the newest bar and show new activities. Return whether the newest activity has a running job."""
        activity = self._progress.activity(self._number) if self._number else None
        self._show(activity)
        following = self._progress.following(self._number)
        while following is not None:
            if self._bar is not None:
                self._bar.close()
            activity = following
            self._number = activity.number()
            self._bar = self._new_bar(activity.description(), activity.tasks())
            self._show(activity)
            following = self._progress.following(self._number)
        return activity is not None and bool(activity.runningJobs() > 0)

    def _show(self, activity: Any) -> None:
        if self._bar is None or activity is None:
            return
        if self._bar.total != activity.tasks():
            # In a notebook, only `reset` changes the length of a bar.
            start = self._bar.start_t
            self._bar.reset(total=activity.tasks())
            self._bar.start_t = start
        self._bar.n = activity.completedTasks()
        size = self._bar.format_sizeof
        self._bar.set_postfix_str(
            f"{size(activity.bytesRead(), 'B')} read, {size(activity.bytesWritten(), 'B')} written"
        )
