"""Draw the charts of docs/peer-benchmarks.md from the results beside it, when MkDocs builds the site."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent
NAME = "peer-benchmarks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the charts to the files of the site."""
    from mkdocs.structure.files import File

    sys.path.insert(0, str(ROOT / "connector" / "bench"))
    from peer_charts import charts

    results = json.loads((ROOT / "docs" / f"{NAME}.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        for path in charts(results, Path(directory)):
            files.append(File.generated(config, f"{NAME}/{path.name}", content=path.read_bytes()))
    return files
