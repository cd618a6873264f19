"""An interactive PySpark shell with a catalog: `python -m pyspark_iceberg.shell WAREHOUSE`."""

from __future__ import annotations

import argparse
import code
import sys

from pyspark_iceberg.session import iceberg_session
from pyspark_iceberg.table import Table


def main(arguments: list[str] | None = None) -> int:
    """Start the shell with `spark` and `Table` defined."""
    parser = argparse.ArgumentParser(prog="pyspark_iceberg.shell", description=__doc__)
    parser.add_argument("warehouse", nargs="?", default="warehouse", help="location of tables (default: %(default)s)")
    parser.add_argument("--catalog", default="lite", help="name of the catalog (default: %(default)s)")
    options = parser.parse_args(arguments)
    spark = iceberg_session(options.warehouse, catalog=options.catalog)
    banner = (
        f"Spark {spark.version} with catalog `{options.catalog}` on {options.warehouse}. Try:\n"
        f'  spark.sql("SHOW NAMESPACES").show()\n'
        f'  spark.read.format("iceberg-lite").load("db.table").show()\n'
        f'  Table(spark, "db.table")'
    )
    names = {"spark": spark, "Table": Table}
    try:
        import readline  # noqa: F401 - line editing, if the platform supports it
    except ImportError:
        print("(line editing is not available)", file=sys.stderr)
    try:
        code.interact(banner=banner, local=names, exitmsg="")
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
