"""The code of the documentation of the Python package runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table

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
