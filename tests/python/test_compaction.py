"""A table is compacted while a writer commits. This test is a short run of the compaction test of `make soak`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_iceberg import connector_jars

ROOT = Path(__file__).resolve().parent.parent.parent


def run(minutes: str) -> tuple[str, list[list[str]]]:
    """Run the benchmark; return its output, and the cells of the rows of iceberg-lite."""
    jar = next(path for path in map(str, connector_jars()) if "iceberg-lite" in path)
    script = str(ROOT / "connector" / "bench" / "compaction.py")
    command = [sys.executable, script, "--jar", jar, "--minutes", minutes, "--rows", "20000"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    rows = [line.split("|")[1:-1] for line in completed.stdout.splitlines() if "| iceberg-lite |" in line]
    return completed.stdout, [[cell.strip() for cell in row] for row in rows]


@pytest.mark.slow
def test_compaction_during_writes_loses_and_duplicates_no_row() -> None:
    output, rows = run("0.25")
    if any(row[2] == "0" for row in rows):
        # On a busy machine, it can happen that no statement ends in this time.
        output, rows = run("1.5")
    assert [row[0] for row in rows] == ["2", "3"]
    for _, _, statements, _, _, compactions, _, _, _, wrong in rows:
        assert int(statements) > 0, output
        assert int(compactions) > 0, output
        assert wrong == "none"
