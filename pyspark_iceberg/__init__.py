"""Iceberg tables in PySpark.

Three lines are enough::

    from pyspark_iceberg import iceberg_session

    spark = iceberg_session(warehouse="warehouse")
    spark.read.format("iceberg-lite").load("db.table").show()
"""

from pyspark_iceberg.changes import RowChanges
from pyspark_iceberg.errors import IcebergLiteError, JarNotFoundError, SessionConflictError
from pyspark_iceberg.jars import connector_jars
from pyspark_iceberg.merge import Merge
from pyspark_iceberg.procedures import clone, migrate, register_table, register_view, snapshot
from pyspark_iceberg.progress import show_progress
from pyspark_iceberg.session import configure, iceberg_session
from pyspark_iceberg.table import PartitionField, Table

__all__ = [
    "IcebergLiteError",
    "JarNotFoundError",
    "Merge",
    "PartitionField",
    "RowChanges",
    "SessionConflictError",
    "Table",
    "clone",
    "configure",
    "connector_jars",
    "iceberg_session",
    "migrate",
    "register_table",
    "register_view",
    "show_progress",
    "snapshot",
]
