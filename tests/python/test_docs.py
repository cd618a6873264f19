"""The code of docs/python.md runs, and the documentation site can be built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pyspark_iceberg
from pyspark_iceberg import Table, procedure_results

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_the_code_of_the_python_page_runs(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks).replace('iceberg_session("warehouse")', "given_session")
    exec(compile(code, "docs/python.md", "exec"), {"given_session": spark})
    events = Table(spark, "shop.events")
    assert [row["id"] for row in events.to_df().orderBy("id").collect()] == [1, 3]
    assert "ICEBERG_LITE.SNAPSHOT_NOT_FOUND 42704" in capsys.readouterr().out
    spark.sql("DROP TABLE shop.events PURGE")
    spark.sql("DROP NAMESPACE shop")


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(
        command, cwd=DOCS.parent, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "python-api.html").read_text(encoding="utf-8")
    assert [name for name in pyspark_iceberg.__all__ if name not in page and name != "__version__"] == []
    results = [name for name in vars(procedure_results) if name[0].isupper() and name not in ("NamedTuple", "Row")]
    assert len(results) > 30
    assert [name for name in results if f'id="pyspark_iceberg.procedure_results.{name}"' not in page] == []


def test_every_page_is_in_the_navigation() -> None:
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    listed = set(re.findall(r": (\S+\.md)$", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert pages == listed
