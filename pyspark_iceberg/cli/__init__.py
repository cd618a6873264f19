"""The command line `iceberg-lite`. Its commands need the extra `cli`: `pip install 'pyspark-iceberg[cli]'`."""

from __future__ import annotations

import sys

from pyspark_iceberg.cli.interrupts import INTERRUPTED

_EXTRA = ("typer", "rich", "pyiceberg")


def main() -> None:
    """Run the command line, or say what to install."""
    try:
        from pyspark_iceberg.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit(f"The command line requires {error.name}: pip install 'pyspark-iceberg[cli]'")
    except KeyboardInterrupt:
        # The application handles later interrupts.
        sys.exit(INTERRUPTED)
    app(prog_name="iceberg-lite")
