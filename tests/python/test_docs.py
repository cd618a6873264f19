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


def test_the_links_of_the_pages_outside_the_site_exist() -> None:
    root = DOCS.parent
    pages = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "RELEASING.md")
    links = [(root / page, link) for page in pages for link in local_links(root / page)]
    assert len(links) > 30
    assert [f"{page.name}: {link}" for page, link in links if not exists(page, link)] == []


def test_a_link_to_an_absent_file_or_heading_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# `A b`: c, d_e\n\n## Twice\n\n## Twice\n\n[a](#a-b-c-d_e) [b](page.md#twice-1) [c](https://x/y)\n"
        "[d](#twice-2) [e](absent.md)\n[f](.#g)\n\n```\n# code\n[h](absent)\n```\n\n[i](#code) `[j](k)`\n",
        encoding="utf-8",
    )
    links = local_links(page)
    assert [link for link in links if exists(page, link)] == ["#a-b-c-d_e", "page.md#twice-1"]
    assert [link for link in links if not exists(page, link)] == ["#twice-2", "absent.md", ".#g", "#code"]


def without_code(page: Path) -> str:
    return re.sub(r"^(```+).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def local_links(page: Path) -> list[str]:
    """Return the links of a page to files and headings, without links to other sites."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", without_code(page)))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def exists(page: Path, link: str) -> bool:
    """Return whether the file of a link exists, and, if the link has an anchor, the file has such a heading."""
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not anchor:
        return target.exists()
    return target.is_file() and anchor in anchors(target)


def anchors(page: Path) -> list[str]:
    """Return the anchors of the headings of a page, as GitHub generates them."""
    names: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = sum(1 for other in names if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
        names.append(f"{name}-{count}" if count else name)
    return names
