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
    from pyspark_iceberg.catalogs import (
        ADLS,
        GCS,
        HDFS,
        S3,
        Catalog,
        FileSystemCatalog,
        HiveCatalog,
        JdbcCatalog,
        RestCatalog,
        Storage,
    )
    from pyspark_iceberg.changes import RowChanges
    from pyspark_iceberg.errors import (
        CommitConflictError,
        CommitStateUnknownError,
        ExistingObjectError,
        FailedJobError,
        IcebergLiteError,
        JarNotFoundError,
        MissingObjectError,
        MissingPackageError,
        RejectedValueError,
        SessionConflictError,
        TableError,
        UnsupportedOperationError,
        UnsupportedVersionError,
        ValidationError,
        typed_errors,
    )
    from pyspark_iceberg.evolution import Evolution
    from pyspark_iceberg.fields import PartitionField, SortField, StatisticsFile, TypedTuple
    from pyspark_iceberg.jars import connector_jars
    from pyspark_iceberg.merge import Merge
    from pyspark_iceberg.metadata.compare import SnapshotDiff
    from pyspark_iceberg.metadata.errors import MetadataError
    from pyspark_iceberg.optimize import Optimize
    from pyspark_iceberg.procedures import clone, migrate, register_table, register_view, rollback_view, snapshot
    from pyspark_iceberg.progress import show_progress
    from pyspark_iceberg.rows import ContentFile, HistoryEntry, Partition, Ref, Snapshot, TypedRows
    from pyspark_iceberg.session import catalog_settings, configure, iceberg_session
    from pyspark_iceberg.table import Table
    from pyspark_iceberg.vacuum import VacuumCandidate, VacuumResult

__version__ = "0.1.0"

__all__ = [
    "ADLS",
    "GCS",
    "HDFS",
    "S3",
    "Catalog",
    "CommitConflictError",
    "CommitStateUnknownError",
    "ContentFile",
    "Evolution",
    "ExistingObjectError",
    "FailedJobError",
    "FileSystemCatalog",
    "HistoryEntry",
    "HiveCatalog",
    "IcebergLiteError",
    "JarNotFoundError",
    "JdbcCatalog",
    "Merge",
    "MetadataError",
    "MissingObjectError",
    "MissingPackageError",
    "Optimize",
    "Partition",
    "PartitionField",
    "Ref",
    "RejectedValueError",
    "RestCatalog",
    "RowChanges",
    "SessionConflictError",
    "Snapshot",
    "SnapshotDiff",
    "SortField",
    "StatisticsFile",
    "Storage",
    "Table",
    "TableBuilder",
    "TableError",
    "Transform",
    "TypedRows",
    "TypedTuple",
    "UnsupportedOperationError",
    "UnsupportedVersionError",
    "VacuumCandidate",
    "VacuumResult",
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
    "rollback_view",
    "show_progress",
    "snapshot",
    "truncate",
    "typed_errors",
    "years",
]

# The modules that define the exported names. Each module is imported when one of its names is first used, so that
# commands that only read metadata do not import PySpark.
_MODULES = {
    "ADLS": "catalogs",
    "Catalog": "catalogs",
    "CommitConflictError": "errors",
    "CommitStateUnknownError": "errors",
    "ContentFile": "rows",
    "Evolution": "evolution",
    "ExistingObjectError": "errors",
    "FailedJobError": "errors",
    "FileSystemCatalog": "catalogs",
    "GCS": "catalogs",
    "HDFS": "catalogs",
    "HistoryEntry": "rows",
    "HiveCatalog": "catalogs",
    "IcebergLiteError": "errors",
    "JarNotFoundError": "errors",
    "JdbcCatalog": "catalogs",
    "Merge": "merge",
    "MetadataError": "metadata.errors",
    "MissingObjectError": "errors",
    "MissingPackageError": "errors",
    "Optimize": "optimize",
    "Partition": "rows",
    "PartitionField": "fields",
    "Ref": "rows",
    "RejectedValueError": "errors",
    "RestCatalog": "catalogs",
    "RowChanges": "changes",
    "S3": "catalogs",
    "SessionConflictError": "errors",
    "Snapshot": "rows",
    "SnapshotDiff": "metadata.compare",
    "SortField": "fields",
    "StatisticsFile": "fields",
    "Storage": "catalogs",
    "Table": "table",
    "TableBuilder": "builder",
    "TableError": "errors",
    "Transform": "builder",
    "TypedRows": "rows",
    "TypedTuple": "fields",
    "UnsupportedOperationError": "errors",
    "UnsupportedVersionError": "errors",
    "VacuumCandidate": "vacuum",
    "VacuumResult": "vacuum",
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
    "rollback_view": "procedures",
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
