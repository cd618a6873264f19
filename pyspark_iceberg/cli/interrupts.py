"""Interrupts (Ctrl-C) of commands that use Spark."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERRUPTED = 130


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay an interrupt to the end of the block, but let a second interrupt end the program at once.

    If the start of PySpark is interrupted, the JVM that it starts remains.
    """
    pending = False

    def remember(*_: object) -> None:
        nonlocal pending
        pending = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pending:
        raise KeyboardInterrupt


@contextmanager
def interruptible(spark: SparkSession) -> Iterator[None]:
    """Let an interrupt stop Spark, which cancels its jobs, and end the program with exit code 130.

    A second interrupt ends the program at once. PySpark's own handler is replaced: it calls the JVM through the
    connection on which the interrupted call waits for its result, so that both calls fail.
    """

    def end(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Another thread has a connection of its own.
        stop = threading.Thread(target=spark.stop, daemon=True)
        stop.start()
        stop.join()
        sys.stdout.flush()
        sys.stderr.flush()
        # The interrupted call cannot continue, and handlers at the exit of Python would wait for it.
        os._exit(INTERRUPTED)

    previous = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
