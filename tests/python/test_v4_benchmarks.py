"""The page with the results of the benchmark of format version 4, and the script that draws its charts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from servers.process import ROOT

BENCH = ROOT / "connector" / "bench"
RESULTS = sorted((ROOT / "docs" / "v4-benchmarks").glob("*.json"))


@pytest.fixture
def v4_plots(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module connector/bench/v4_plots.py."""
    monkeypatch.syspath_prepend(str(BENCH))
    import v4_plots

    module: ModuleType = v4_plots
    return module


def test_the_page_has_all_tables_of_the_results(v4_plots: ModuleType) -> None:
    page = (ROOT / "docs" / "v4-benchmarks.md").read_text(encoding="utf-8")
    tables = v4_plots.tables(v4_plots.read(RESULTS))
    # Four tables for each of the two numbers of columns, and six others.
    assert len(tables) == 14
    for title, table in tables.items():
        assert table in page, title


def test_the_page_has_all_charts_of_the_results(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "v4-benchmarks.md").read_text(encoding="utf-8")
    command = [sys.executable, str(BENCH / "v4_plots.py"), str(tmp_path), *map(str, RESULTS)]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    charts = [Path(path) for path in drawn if path.endswith(".svg")]
    assert len(charts) == 8
    for chart in charts:
        assert f"](v4-benchmarks/{chart.name})" in page
        assert (ROOT / "docs" / "v4-benchmarks" / chart.name).exists()
