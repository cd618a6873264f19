"""Interrupts (Ctrl-C) of commands that start Spark, of the commands that use it, and of the shell."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyspark_iceberg.cli.interrupts import cancelling, interruptible, uninterrupted

# The first row creates a file, so that the test knows when the job runs. The other rows would take hours. Its tasks do
# not end when the job is cancelled, so that the tests then run a statement without a job.
STATEMENT = (
    "SELECT id FROM range(0, 1000000000000, 1, 2) WHERE CASE WHEN id = 0 "
    "THEN length(reflect('java.io.File', 'createTempFile', 'started', '.txt')) ELSE length(sha2('x', 512)) END < 0"
)
SECONDS = 120
# The tracker of jobs is updated asynchronously.
UNTIL_CANCELLED = "while spark.sparkContext.statusTracker().getActiveJobsIds(): pass"


class ExitedError(BaseException):
    """Raised instead of the end of the process."""


@contextmanager
def running(directory: Path, arguments: Sequence[str], stdin: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a command. Temporary files of its JVM are in the directory `jvm`."""
    (directory / "jvm").mkdir()
    java = f"spark.driver.extraJavaOptions=-Djava.io.tmpdir={directory}/jvm"
    command = [sys.executable, "-m", "pyspark_iceberg", "--warehouse", str(directory / "w"), "--conf", java, *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def interrupt_job(process: subprocess.Popen[str], directory: Path) -> None:
    """Interrupt a process, and its JVM as in a terminal, when its job runs."""
    end = time.monotonic() + SECONDS
    while not list((directory / "jvm").glob("started*")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, "the job has not started"
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.slow
def test_an_interrupt_cancels_the_job_of_a_statement_and_has_its_own_exit_code(tmp_path: Path) -> None:
    with running(tmp_path, ["sql", STATEMENT], subprocess.DEVNULL) as process:
        interrupt_job(process, tmp_path)
        stdout, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert stdout == ""
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_an_interrupt_raises_an_exception_in_the_program_of_the_user(tmp_path: Path) -> None:
    program = (
        "import atexit\n"
        "atexit.register(print, 'at exit')\n"
        "try:\n"
        f'    spark.sql("""{STATEMENT}""").collect()\n'
        "except KeyboardInterrupt:\n"
        f"    {UNTIL_CANCELLED}\n"
        "    print(spark.sql('VALUES 7').collect())\n"
        "    raise\n"
        "finally:\n"
        "    print('finally')\n"
    )
    with running(tmp_path, ["shell"], subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(program)
        process.stdin.close()
        process.stdin = None
        interrupt_job(process, tmp_path)
        stdout, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, stderr
    assert stdout == "[Row(col1=7)]\nfinally\nat exit\n"
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_an_interrupt_of_a_job_returns_to_the_prompt(tmp_path: Path) -> None:
    terminal, stdin = pty.openpty()
    try:
        with running(tmp_path, ["shell"], stdin) as process:
            os.write(terminal, f'spark.sql("{STATEMENT}").count()\n'.encode())
            interrupt_job(process, tmp_path)
            # Ctrl-D, the character 4, ends the shell.
            os.write(terminal, f"{UNTIL_CANCELLED}\n\nspark.sql('VALUES 7').collect()\n\x04".encode())
            stdout, stderr = process.communicate(timeout=SECONDS)
    finally:
        os.close(terminal)
        os.close(stdin)
    assert process.returncode == 0, stderr
    assert "KeyboardInterrupt" in stderr
    assert "[Row(col1=7)]\n" in stdout


def test_an_interrupt_while_spark_starts_is_delayed_until_it_has_started() -> None:
    before, install = signal.getsignal(signal.SIGINT), signal.signal
    steps = []

    def start() -> None:
        with uninterrupted():
            # As PySpark does. The interrupts that follow are not for its handler.
            signal.signal(signal.SIGINT, lambda *_: steps.append("interrupted"))
            signal.raise_signal(signal.SIGINT)
            steps.append("started")
        steps.append("used")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert steps == ["started"]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.signal is install


def test_the_jvm_that_spark_starts_can_ignore_interrupts() -> None:
    program = "import signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with uninterrupted():
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, preexec_fn=ignore, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_threads_that_receive_no_interrupts_install_no_handlers() -> None:
    def run() -> str:
        with uninterrupted(), interruptible(spark_of(Client())):
            return "done"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run).result() == "done"


@pytest.mark.timeout(60)
def test_an_interrupt_ends_the_program_if_spark_does_not_stop_and_nothing_reads_the_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released, flushed = threading.Event(), threading.Event()

    def fail() -> None:
        raise BrokenPipeError

    def leave(code: int) -> None:
        raise ExitedError(code)

    spark: Any = SimpleNamespace(stop=released.wait)
    monkeypatch.setattr("pyspark_iceberg.cli.interrupts._PATIENCE", 0.01)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "_exit", leave)
            patched.setattr(sys, "stdout", SimpleNamespace(flush=fail))
            patched.setattr(sys, "stderr", SimpleNamespace(flush=flushed.set))
            with pytest.raises(ExitedError, match="130"), interruptible(spark):
                signal.raise_signal(signal.SIGINT)
    finally:
        released.set()
    assert flushed.is_set()


class Client:
    """A client of a JVM, whose call is interrupted and is answered when its jobs have been cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.answers: list[str] = []

    def send_command(self, command: str) -> str:
        if command == "job":
            signal.raise_signal(signal.SIGINT)
            assert self.cancelled.wait(SECONDS)
        self.answers.append(command)
        return command


def spark_of(client: Client) -> Any:
    gateway = SimpleNamespace(_gateway_client=client)
    return SimpleNamespace(
        sparkContext=SimpleNamespace(_gateway=gateway, _jsc=object(), cancelAllJobs=client.cancelled.set)
    )


def test_an_interrupted_call_gets_its_answer_before_the_exception_is_raised() -> None:
    before = signal.getsignal(signal.SIGINT)
    client = Client()
    with cancelling(spark_of(client)):
        with pytest.raises(KeyboardInterrupt):
            client.send_command("job")
        assert client.answers == ["job"]
        assert client.send_command("next") == "next"
    assert signal.getsignal(signal.SIGINT) is before
    assert client.send_command("last") == "last"


def test_an_interrupt_between_calls_cancels_jobs_and_is_raised_at_once() -> None:
    client = Client()
    with pytest.raises(KeyboardInterrupt), cancelling(spark_of(client)):
        signal.raise_signal(signal.SIGINT)
    assert client.cancelled.is_set()
