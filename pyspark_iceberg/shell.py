"""An interactive PySpark shell with a catalog: `python -m pyspark_iceberg.shell WAREHOUSE`."""

from __future__ import annotations

import argparse
import code
import sys

from pyspark.sql import SparkSession

from pyspark_iceberg.session import iceberg_session
from pyspark_iceberg.table import Table


def main(arguments: list[str] | None = None) -> int:
    """Start the shell with `spark` and `Table` defined."""
    parser = argparse.ArgumentParser(prog="pyspark_iceberg.shell", description=__doc__)
    parser.add_argument("warehouse", nargs="?", default="warehouse", help="location of tables (default: %(default)s)")
    parser.add_argument("--catalog", default="lite", help="name of the catalog (default: %(default)s)")
    options = parser.parse_args(arguments)
    spark = iceberg_session(options.warehouse, catalog=options.catalog)
    try:
        interact(spark)
    finally:
        spark.stop()
    return 0


def interact(spark: SparkSession) -> None:
    """Run the shell in a session until the user leaves it.

    If standard input is not a terminal, its text is run as one Python program, without prompts. As in a file, the first
    error ends the program, and only what it prints is shown.
    """
    names = {"__name__": "__main__", "spark": spark, "Table": Table}
    if not sys.stdin.isatty():
        # The program does not get the __future__ imports of this module.
        program = compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True)
        exec(program, names)  # noqa: S102 - the user's own program
        return
    banner = (
        f"Spark {spark.version} with catalog `{spark.catalog.currentCatalog()}`. Try:\n"
        f'  spark.sql("SHOW NAMESPACES").show()\n'
        f'  spark.read.format("iceberg-lite").load("db.table").show()\n'
        f'  Table(spark, "db.table")'
    )
    try:
        import readline  # noqa: F401 - line editing, if the platform supports it
    except ImportError:
        print("(line editing is not available)", file=sys.stderr)
    code.interact(banner=banner, local=names, exitmsg="")


if __name__ == "__main__":
    sys.exit(main())
