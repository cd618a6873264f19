"""The code of the tutorials and of some guides runs, with the output that the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pytest
from pyspark.sql import SparkSession

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGES = [DOCS / "tour.md", DOCS / "geospatial.md", *sorted((DOCS / "tutorials").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_the_code_of_a_page_runs(
    spark: SparkSession, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = page.read_text(encoding="utf-8")
    created = set(re.findall(r"^CREATE (?:TABLE|VIEW)(?: IF NOT EXISTS)? (\w+)\.\w+(?![\w.])", code, re.MULTILINE))
    try:
        assert pages.run_page(page, spark) > 0, "the page has no code that runs"
    finally:
        for namespace in created:
            spark.sql(f"DROP NAMESPACE IF EXISTS {namespace} CASCADE")


def test_an_output_that_differs_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sql\nSELECT 1 AS one;\n```\n\n```text\n+---+\n|one|\n+---+\n|  2|\n+---+\n```\n", encoding="utf-8"
    )
    with pytest.raises(AssertionError, match=r"page\.md, line 2: the output differs"):
        pages.run_page(page, spark)
