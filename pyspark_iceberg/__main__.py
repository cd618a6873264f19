"""`python -m pyspark_iceberg` runs the command line."""

from __future__ import annotations

from pyspark_iceberg.cli import main

if __name__ == "__main__":
    main()
