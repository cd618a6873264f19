"""Interrupts (Ctrl-C) of commands that use Spark. Only the main thread of Python receives them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Callable, Optional

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERRUPTED = 130

# The maximum time in seconds that an interrupt waits for Spark.
_PATIENCE = 10
# The seconds between two attempts to cancel the jobs of a call, which may start its next job after an attempt.
_INTERVAL = 0.5


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay an interrupt to the end of the block, but let a second interrupt end the program at once.

    If the start of PySpark is interrupted, the JVM that it starts remains. PySpark installs a handler of its own before
    the start has ended, so that no other handler can be installed within the block. Its child processes can do so.
    """
    if not _is_main_thread():
        yield
        return
    pending = False
    install = signal.signal
    process = os.getpid()

    def remember(*_: object) -> None:
        nonlocal pending
        pending = True
        install(signal.SIGINT, signal.SIG_DFL)

    def keep(signalnum: int, handler: Any) -> Any:
        is_kept = signalnum == signal.SIGINT and os.getpid() == process
        return signal.getsignal(signalnum) if is_kept else install(signalnum, handler)

    previous = install(signal.SIGINT, remember)
    signal.signal = keep
    try:
        yield
    finally:
        signal.signal = install
        install(signal.SIGINT, previous)
    if pending:
        raise KeyboardInterrupt


@contextmanager
def interruptible(spark: SparkSession) -> Iterator[None]:
    """Let an interrupt stop Spark, which cancels its jobs, and end the program with exit code 130.

    A second interrupt ends the program at once. PySpark's own handler is not used: it calls the JVM through the
    connection on which the interrupted call waits for its result, so that both calls fail.
    """

    def end(*_: object) -> None:
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _in_other_thread(spark.stop).join(_PATIENCE)
            for stream in (sys.stdout, sys.stderr):
                # The reader of a pipe may have ended, and the interrupt may have occurred while the stream was written.
                with suppress(OSError, ValueError, RuntimeError):
                    stream.flush()
        finally:
            # The interrupted call cannot continue, and handlers at the exit of Python would wait for it.
            os._exit(INTERRUPTED)

    with _handler(end):
        yield


@contextmanager
def cancelling(spark: SparkSession) -> Iterator[None]:
    """Let an interrupt cancel the jobs of Spark, and raise `KeyboardInterrupt` in the Python code of the user.

    If the code waits for an answer of the JVM, `KeyboardInterrupt` is raised when the answer arrives: otherwise, the
    next call would get this answer. A second interrupt before the answer ends the program at once.
    """
    client: Any = spark.sparkContext._gateway._gateway_client  # type: ignore[union-attr]
    send = client.send_command
    interrupts = _Interrupts(spark, send)
    client.send_command = interrupts.call
    try:
        with _handler(interrupts.receive):
            yield
    finally:
        client.send_command = send


class _Interrupts:
    """The state of the call of the JVM that the main thread makes."""

    def __init__(self, spark: SparkSession, send: Callable[..., Any]) -> None:
        self._spark = spark
        self._send = send
        self._is_calling = False
        # Set when the call that was interrupted has its answer.
        self._answered: Optional[threading.Event] = None

    def call(self, *arguments: Any, **options: Any) -> Any:
        """Send a command to the JVM and return its answer."""
        if self._is_calling or not _is_main_thread():
            return self._send(*arguments, **options)
        self._is_calling = True
        try:
            return self._send(*arguments, **options)
        finally:
            self._is_calling = False
            answered, self._answered = self._answered, None
            if answered is not None:
                answered.set()
                raise KeyboardInterrupt

    def receive(self, *_: object) -> None:
        """Handle an interrupt."""
        if not self._is_calling:
            _in_other_thread(self._cancel).join(_PATIENCE)
            raise KeyboardInterrupt
        if self._answered is not None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        answered = self._answered = threading.Event()

        def cancel_until_answered() -> None:
            self._cancel()
            while not answered.wait(_INTERVAL):
                self._cancel()

        _in_other_thread(cancel_until_answered)

    def _cancel(self) -> None:
        context = self._spark.sparkContext
        # The user's code may have stopped Spark.
        if context._jsc is not None:
            context.cancelAllJobs()


@contextmanager
def _handler(handler: Callable[..., None]) -> Iterator[None]:
    if not _is_main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _in_other_thread(function: Callable[[], None]) -> threading.Thread:
    """Start a function in another thread, which has its own connection to the JVM."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread
