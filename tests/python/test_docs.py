"""The code of docs/python.md runs, and the documentation site can be built and needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import document, needs_browser
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site. Warnings are errors."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=DOCS.parent, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.slow
def test_the_site_documents_the_python_api(site: Path) -> None:
    page = (site / "python-api.html").read_text(encoding="utf-8")
    assert [name for name in pyspark_iceberg.__all__ if name not in page and name != "__version__"] == []
    results = [name for name in vars(procedure_results) if name[0].isupper() and name not in ("NamedTuple", "Row")]
    assert len(results) > 30
    assert [name for name in results if f'id="pyspark_iceberg.procedure_results.{name}"' not in page] == []


@pytest.mark.slow
def test_a_page_of_the_site_loads_files_of_the_site_only(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    loads = [(page, load) for page in pages for load in loaded(page.read_text(encoding="utf-8"))]
    loads += [(style, load) for style in site.rglob("*.css") for load in loaded_by_style(style.read_text("utf-8"))]
    assert [f"{page.name}: {load}" for page, load in loads if is_remote(load)] == []
    local = [(page, load) for page, load in loads if not load.startswith("data:")]
    # The page of the error 404 has absolute paths, because it is shown at every path.
    files = [(page, site / load[1:] if page.name == "404.html" else page.parent / load) for page, load in local]
    assert [f"{page.name}: {file}" for page, file in files if not Path(re.sub(r"[?#].*", "", str(file))).exists()] == []
    scripts = {page.name for page, load in loads if load.endswith("/mermaid.min.js")}
    assert scripts == {page.name for page in pages if 'class="mermaid"' in page.read_text(encoding="utf-8")}
    assert "architecture.html" in scripts


@pytest.mark.slow
@needs_browser
def test_a_browser_without_a_network_draws_the_diagrams(site: Path, tmp_path: Path) -> None:
    page = site / "architecture.html"
    assert page.read_text(encoding="utf-8").count('<pre class="mermaid"') == 1
    shown = document(page, tmp_path, "--host-resolver-rules=MAP * ~NOTFOUND")
    # The theme replaces the source of a diagram by an element with the drawing.
    assert '<div class="mermaid"' in shown
    assert '<pre class="mermaid"' not in shown


def test_loads_from_other_hosts_are_found() -> None:
    html = (
        '<link rel="stylesheet" href="a.css"><link rel="canonical" href="https://b/"><link rel=preconnect href=//c>'
        '<script src="https://d/e.js"></script><img src="f.png"><a href="https://g">g</a>'
        "<style>@import url('https://h/i.css'); b { background: url(data:j) }</style><p style=\"src: url(//k)\"></p>"
        '<iframe src="https://l"></iframe><link rel="next" href="m.html">'
    )
    found = loaded(html)
    assert found == ["a.css", "//c", "https://d/e.js", "f.png", "https://l", "https://h/i.css", "data:j", "//k"]
    remote = ["//c", "https://d/e.js", "https://l", "https://h/i.css", "//k"]
    assert [load for load in found if is_remote(load)] == remote
    assert loaded_by_style('@import "https://n/o.css"; a { src: url("p.woff2") }') == ["https://n/o.css", "p.woff2"]


class Loads(HTMLParser):
    """The files that a page loads: its scripts, styles, icons, images and frames; not those to which it links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        # These links are addresses of other pages.
        is_page = values.get("rel") in ("canonical", "next", "prev", "alternate", "edit")
        load = values.get("href" if tag == "link" else "src")
        if load and tag != "a" and not is_page:
            self.found.append(load)


def loaded(html: str) -> list[str]:
    parser = Loads()
    parser.feed(html)
    return parser.found + loaded_by_style(html)


def loaded_by_style(text: str) -> list[str]:
    """Return the files that styles load: imports, fonts and images."""
    found = re.findall(r"""@import\s+['"]([^'"]+)|url\(\s*['"]?([^'")]+)""", text)
    return [imported or url for imported, url in found]


def is_remote(load: str) -> bool:
    return re.match(r"[a-z]+:|//", load) is not None and not load.startswith("data:")


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
