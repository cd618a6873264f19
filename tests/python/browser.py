"""Pages in headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)

needs_browser = pytest.mark.skipif(_CHROMIUM is None, reason="requires Chromium (Debian package `chromium`)")


def document(page: Path, profile: Path, *options: str) -> str:
    """Return the document of a page, as HTML, after its scripts have run.

    Args:
        page: the file of the page.
        profile: the directory for the data of the browser.
        options: further options of Chromium.
    """
    command = [str(_CHROMIUM), *_ARGUMENTS, f"--user-data-dir={profile}", *options, "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout
