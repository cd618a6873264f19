"""The code of the tutorials and of some guides runs, with the output that the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pytest
from page_setups import RUN_ELSEWHERE, SET_UPS, names, new_session
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


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SET_UPS))
def test_the_code_of_a_guide_runs_with_its_set_up(
    spark: SparkSession, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = new_session(spark, tmp_path)
    try:
        assert pages.run_page(DOCS / f"{name}.md", session, SET_UPS[name], tmp_path) > 0
        for query in session.streams.active:
            query.processAllAvailable()
        assert eval(SET_UPS[name].holds, names(session, tmp_path))
    finally:
        for query in session.streams.active:
            query.stop()


def test_the_code_of_every_page_runs() -> None:
    with_code = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if pages.blocks_of(page)}
    run = {str(page.relative_to(DOCS)) for page in PAGES} | {f"{name}.md" for name in SET_UPS}
    assert run | RUN_ELSEWHERE.keys() == with_code
    assert not run & RUN_ELSEWHERE.keys()


def test_an_output_that_differs_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sql\nSELECT 1 AS one;\n```\n\n```text\n+---+\n|one|\n+---+\n|  2|\n+---+\n```\n", encoding="utf-8"
    )
    with pytest.raises(AssertionError, match=r"page\.md, line 2: the output differs"):
        pages.run_page(page, spark)
