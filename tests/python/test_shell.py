"""The command `shell` runs the Python program of its standard input, and is a prompt in a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from pyspark_iceberg import Table
from pyspark_iceberg.cli.app import app

ROWS = "+---+----+\n| id|name|\n+---+----+\n|  1|   a|\n|  2|   b|\n+---+----+\n"
WRONG = 'spark.sql("SELECT * FROM tests.absent")'


def program(table: str) -> str:
    return (
        f'spark.sql("CREATE TABLE {table} (id INT, name STRING)")\n'
        f"spark.sql(\"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')\")\n"
        "if True:\n"
        f'    rows = spark.table("{table}").orderBy("id")\n'
        "rows.show()\n"
        f'print(Table(spark, "{table}").name, __name__)\n'
    )


@pytest.fixture
def shell(spark: SparkSession, warehouse: Path) -> Any:
    """Return a function that runs `shell` with a standard input that is not a terminal."""

    def shell(text: str) -> Any:
        return CliRunner().invoke(app, ["--warehouse", str(warehouse), "shell"], input=text)

    return shell


def test_statements_of_standard_input_show_only_what_they_print(shell: Any, table: str) -> None:
    done = shell(program(table))
    assert done.exit_code == 0, done.output
    assert done.output == f"{ROWS}\n{table} __main__\n"


def test_the_program_has_no_future_imports_of_the_shell(shell: Any) -> None:
    assert shell("def f(x: int): ...\nprint(f.__annotations__['x'] is int)\n").output == "True\n"


def test_the_first_wrong_statement_ends_the_program(shell: Any, spark: SparkSession, table: str) -> None:
    done = shell(f"{program(table)}{WRONG}\nTable(spark, '{table}').delete_all()\n")
    assert done.exit_code == 1
    # The output has both streams, which are buffered separately, in any order.
    assert ROWS in done.output
    assert "Error: [TABLE_OR_VIEW_NOT_FOUND] " in done.output
    assert "`tests`.`absent`" in done.output
    assert "Traceback" not in done.output
    assert spark.table(table).count() == 2, "the statements after the wrong one must not run"


def test_a_text_that_is_no_program_runs_no_statement(shell: Any, spark: SparkSession, table: str) -> None:
    done = shell(f"{program(table)}SELECT 1\n")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert isinstance(done.exception, SyntaxError)
    assert (done.exception.filename, done.exception.lineno) == ("<stdin>", 7)
    assert not Table.exists(spark, table)


@pytest.mark.slow
def test_a_terminal_shows_an_error_and_continues(tmp_path: Path) -> None:
    terminal, stdin = pty.openpty()
    command = [sys.executable, "-m", "pyspark_iceberg", "--warehouse", str(tmp_path / "w"), "shell"]
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.close(stdin)
    try:
        # Ctrl-D, the character 4, ends the shell.
        os.write(terminal, f"{WRONG}\nspark.sql('SELECT 7 AS seven').show()\nspark.range(3).count()\n\x04".encode())
        shown, errors = process.communicate(timeout=240)
    finally:
        process.kill()
        os.close(terminal)
    assert process.returncode == 0, errors
    assert "with catalog `lite`" in shown + errors
    assert "TABLE_OR_VIEW_NOT_FOUND" in errors
    assert re.search(r"\|seven\|\n\+-+\+\n\| +7\|", shown)
    assert re.search(r"^(>>> )*3$", shown, re.MULTILINE), "a prompt shows the values of expressions"


@pytest.mark.slow
def test_the_program_runs_in_a_new_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pyspark_iceberg", "--warehouse", str(tmp_path / "w"), "shell"]
    done = subprocess.run(command, input=f"{program('db.t')}{WRONG}\n", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == f"{ROWS}\ndb.t __main__\n"
    assert done.stderr.startswith("Error: [TABLE_OR_VIEW_NOT_FOUND] "), "Spark logs errors only"
