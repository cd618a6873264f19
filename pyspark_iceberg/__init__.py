"""Iceberg tables in PySpark.

Three lines are enough::

    from pyspark_iceberg import iceberg_session

    spark = iceberg_session(warehouse="warehouse")
    spark.read.format("iceberg-lite").load("db.table").show()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from pyspark_iceberg.metadata.compare import SnapshotDiff
    from pyspark_iceberg.metadata.errors import MetadataError
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
    "MetadataError",
    "MissingObjectError",
    "Optimize",
    "Partition",
    "PartitionField",
    "Ref",
    "RejectedValueError",
    "RowChanges",
    "SessionConflictError",
    "Snapshot",
    "SnapshotDiff",
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

# The modules of the names. They are imported on first use, because the commands that read metadata only must not wait
# for PySpark.
_MODULES = {
    "CommitConflictError": "errors",
    "CommitStateUnknownError": "errors",
    "ContentFile": "rows",
    "ExistingObjectError": "errors",
    "HistoryEntry": "rows",
    "IcebergLiteError": "errors",
    "JarNotFoundError": "errors",
    "Merge": "merge",
    "MetadataError": "metadata.errors",
    "MissingObjectError": "errors",
    "Optimize": "optimize",
    "Partition": "rows",
    "PartitionField": "description",
    "Ref": "rows",
    "RejectedValueError": "errors",
    "RowChanges": "changes",
    "SessionConflictError": "errors",
    "Snapshot": "rows",
    "SnapshotDiff": "metadata.compare",
    "Table": "table",
    "TableBuilder": "builder",
    "TableError": "errors",
    "Transform": "builder",
    "TypedRows": "rows",
    "UnsupportedOperationError": "errors",
    "ValidationError": "errors",
    "bucket": "builder",
    "catalog_settings": "session",
    "clone": "procedures",
    "configure": "session",
    "connector_jars": "jars",
    "days": "builder",
    "hours": "builder",
    "iceberg_session": "session",
    "migrate": "procedures",
    "months": "builder",
    "register_table": "procedures",
    "register_view": "procedures",
    "show_progress": "progress",
    "snapshot": "procedures",
    "truncate": "builder",
    "typed_errors": "errors",
    "years": "builder",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
