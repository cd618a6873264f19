"""Iceberg tables in PySpark.

Three lines are enough::

    from pyspark_iceberg import iceberg_session

    spark = iceberg_session(warehouse="warehouse")
    spark.read.format("iceberg-lite").load("db.table").show()
"""

from pyspark_iceberg.builder import TableBuilder, Transform, bucket, days, hours, months, truncate, years
from pyspark_iceberg.changes import RowChanges
from pyspark_iceberg.description import PartitionField
from pyspark_iceberg.errors import (
    CommitConflictError,
    CommitStateUnknownError,
    ExistingObjectError,
    IcebergLiteError,
    JarNotFoundError,
    MissingObjectError,
    RejectedValueError,
    SessionConflictError,
    TableError,
    UnsupportedOperationError,
    ValidationError,
    typed_errors,
)
from pyspark_iceberg.jars import connector_jars
from pyspark_iceberg.merge import Merge
from pyspark_iceberg.optimize import Optimize
from pyspark_iceberg.procedures import clone, migrate, register_table, register_view, snapshot
from pyspark_iceberg.progress import show_progress
from pyspark_iceberg.rows import ContentFile, HistoryEntry, Partition, Ref, Snapshot, TypedRows
from pyspark_iceberg.session import catalog_settings, configure, iceberg_session
from pyspark_iceberg.table import Table

__version__ = "0.1.0"

__all__ = [
    "CommitConflictError",
    "CommitStateUnknownError",
    "ContentFile",
    "ExistingObjectError",
    "HistoryEntry",
    "IcebergLiteError",
    "JarNotFoundError",
    "Merge",
    "MissingObjectError",
    "Optimize",
    "Partition",
    "PartitionField",
    "Ref",
    "RejectedValueError",
    "RowChanges",
    "SessionConflictError",
    "Snapshot",
    "Table",
    "TableBuilder",
    "TableError",
    "Transform",
    "TypedRows",
    "UnsupportedOperationError",
    "ValidationError",
    "__version__",
    "bucket",
    "catalog_settings",
    "clone",
    "configure",
    "connector_jars",
    "days",
    "hours",
    "iceberg_session",
    "migrate",
    "months",
    "register_table",
    "register_view",
    "show_progress",
    "snapshot",
    "truncate",
    "typed_errors",
    "years",
]
