"""Hooks of MkDocs: the pages with Mermaid diagrams load Mermaid from the site, so that it needs no network."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

# `sbt fetchMermaid` writes this file.
SCRIPT = Path(__file__).resolve().parent.parent / ".tools" / "site" / "mermaid.min.js"
TARGET = "assets/javascripts/mermaid.min.js"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add Mermaid to the files of the site.

    Raises:
        PluginError: the file has not been fetched.
    """
    if not SCRIPT.exists():
        raise PluginError(f"{SCRIPT} does not exist. Run `make docs`, which fetches it, or `sbt fetchMermaid`")
    files.append(File.generated(config, TARGET, abs_src_path=str(SCRIPT)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add the script to a page with a diagram. The theme loads Mermaid from another host only if it is not defined."""
    if 'class="mermaid"' not in output:
        return output
    return output.replace("</head>", f'<script src="{get_relative_url(TARGET, page.url)}"></script></head>', 1)
