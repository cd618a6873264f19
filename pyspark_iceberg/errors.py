"""Errors of the Python package.

An error of a table has a condition and a SQL state. PySpark raises these errors as `AnalysisException` or
`QueryExecutionException`, and the failure of a Spark job as `Py4JJavaError`, even if Spark has a condition for it. The
methods of this package raise such an error as the subclass of `TableError` that belongs to the condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from pyspark.errors import AnalysisException, PySparkException, PythonException

# A Connect server sends only the message, which begins with the condition. The name of a Java class can precede it. If
# a Spark job failed, the message of the failed task follows that of the job.
_NAME = r"[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*"
_CONDITION = re.compile(rf"(?:\([\w.$]+\) )?(\[({_NAME})\] .*)", re.DOTALL)
# The message of a task ends where its stack trace, the next cause or the stack trace of the driver begins.
_END_OF_TASK = r"(?=\n\s+at |\nCaused by|\n\s*(?:Driver|JVM) stacktrace:|\Z)"
_CONDITION_OF_TASK = re.compile(
    rf"(?:iceberglite[\w.$]+: )(\[(ICEBERG_LITE\.[A-Z0-9_]+)\] .*?){_END_OF_TASK}", re.DOTALL
)
_SPARK_CONDITION_OF_TASK = re.compile(rf"(?:org\.apache\.spark[\w.$]+: )(\[({_NAME})\] .*?){_END_OF_TASK}", re.DOTALL)

# Conditions of errors that PySpark does not convert either, although no job failed.
_OUTSIDE_OF_JOBS = re.compile(r"(OPERATION_CANCELED|INVALID_HANDLE|INTERNAL_ERROR)([._].+)?")

# The maximum number of causes of a Java exception that are searched.
_MAX_CAUSES = 20


class IcebergLiteError(Exception):
    """Base class of this package's errors, except `MetadataError`."""


class JarNotFoundError(IcebergLiteError):
    """The package does not contain the connector's jar: it was installed from a source tree without a build."""


class MissingPackageError(IcebergLiteError, ImportError):
    """An optional Python package is not installed; the message says how to install it."""


class UnsupportedVersionError(IcebergLiteError):
    """The version of Java, Spark or Scala is not supported."""


class SessionConflictError(IcebergLiteError):
    """The running Spark session lacks the connector, or its catalog has other settings than requested."""


class TableError(IcebergLiteError, AnalysisException):
    """An error of an operation on a table.

    Attributes:
        condition: the error condition, such as `ICEBERG_LITE.SNAPSHOT_NOT_FOUND`.
        sql_state: the SQL state of the condition, such as `42704`; None if it is unknown.
        parameters: the parameters of the message, such as the name of the missing object; empty on Spark Connect, which
            does not send them.
    """

    def __init__(
        self, message: str, condition: str, sql_state: str | None, parameters: Mapping[str, str] | None = None
    ) -> None:
        # `str` of an exception of PySpark begins with the condition.
        PySparkException.__init__(self, message=message.removeprefix(f"[{condition}] "))
        self.condition = condition
        self.sql_state = sql_state
        self.parameters = dict(parameters or {})

    def getErrorClass(self) -> str:  # noqa: N802
        """Return the condition, as the exceptions of PySpark do."""
        return self.condition

    def getSqlState(self) -> str | None:  # type: ignore[override]  # noqa: N802
        """Return the SQL state, as the exceptions of PySpark do."""
        return self.sql_state

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802
        """Return the parameters of the message, as the exceptions of PySpark do."""
        return self.parameters


class CommitConflictError(TableError):
    """Another commit came first. The same operation may succeed if it runs again."""


class CommitStateUnknownError(TableError):
    """It is not known whether the commit happened. Read the table before the operation runs again."""


class MissingObjectError(TableError):
    """A table, namespace, view, column, snapshot, branch, tag or another object does not exist."""


class ExistingObjectError(TableError):
    """A table, namespace, view, branch, tag or another object with this name already exists."""


class ValidationError(TableError):
    """The state of the table does not allow the operation."""


class RejectedValueError(TableError):
    """An argument, an option, a property or a value of a row is not allowed."""


class UnsupportedOperationError(TableError):
    """This release does not support the operation or a part of the table."""


class FailedJobError(TableError):
    """A Spark job failed. The condition is that of its cause, such as `DIVIDE_BY_ZERO` or `CAST_INVALID_INPUT`."""


# The class of an error by its condition. The first pattern that matches the whole condition decides.
_CLASSES: tuple[tuple[str, type[TableError]], ...] = (
    (r"ICEBERG_LITE\.(CONCURRENT_CHANGE|COMMIT_CONFLICT)", CommitConflictError),
    (r"ICEBERG_LITE\.COMMIT_STATE_UNKNOWN", CommitStateUnknownError),
    (
        r"(TABLE_OR_VIEW|VIEW|SCHEMA|ICEBERG_LITE\..+)_NOT_FOUND(\..+)?|UNRESOLVED_COLUMN(\..+)?"
        r"|UNSET_NONEXISTENT_PROPERTIES",
        MissingObjectError,
    ),
    (r"(TABLE_OR_VIEW|VIEW|SCHEMA|FIELDS|COLUMN|ICEBERG_LITE\..+)_ALREADY_EXISTS(\..+)?", ExistingObjectError),
    (r"ICEBERG_LITE\.(VALIDATION_FAILED|ALREADY_COMMITTED)", ValidationError),
    (
        r"INVALID_PARAMETER_VALUE(\..+)?|ICEBERG_LITE\.(CHECK_CONSTRAINT_VIOLATION|GENERATED_COLUMN_MISMATCH|NOT_NULL_VIOLATION)",
        RejectedValueError,
    ),
    (r"INCOMPATIBLE_DATA_FOR_TABLE(\..+)?|NOT_NULL_ASSERT_VIOLATION", RejectedValueError),
    (
        r"ICEBERG_LITE\.UNSUPPORTED|UNSUPPORTED_FEATURE(\..+)?|UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
        UnsupportedOperationError,
    ),
    (r"ICEBERG_LITE\.JOB_FAILED", FailedJobError),
    (r"ICEBERG_LITE\..+", TableError),
)

# The SQL state of a condition, for errors of Spark Connect, which sends no SQL state. The first match decides.
_SQL_STATES: tuple[tuple[str, str], ...] = (
    (r"ICEBERG_LITE\.(CONCURRENT_CHANGE|COMMIT_CONFLICT)", "40001"),
    (r"ICEBERG_LITE\.COMMIT_STATE_UNKNOWN", "40003"),
    (r"(TABLE_OR_VIEW|VIEW)_NOT_FOUND", "42P01"),
    (r"(SCHEMA|ICEBERG_LITE\..+)_NOT_FOUND", "42704"),
    (r"UNRESOLVED_COLUMN\..+", "42703"),
    (r"(TABLE_OR_VIEW|VIEW)_ALREADY_EXISTS", "42P07"),
    (r"SCHEMA_ALREADY_EXISTS", "42P06"),
    (r"(FIELDS|ICEBERG_LITE\..+)_ALREADY_EXISTS", "42710"),
    (r"UNSET_NONEXISTENT_PROPERTIES", "42K0J"),
    (r"ICEBERG_LITE\.VALIDATION_FAILED", "55000"),
    (r"ICEBERG_LITE\.ALREADY_COMMITTED", "23505"),
    (r"INVALID_PARAMETER_VALUE(\..+)?", "22023"),
    (r"ICEBERG_LITE\.CHECK_CONSTRAINT_VIOLATION", "23001"),
    (r"ICEBERG_LITE\.GENERATED_COLUMN_MISMATCH", "428C9"),
    (r"ICEBERG_LITE\.NOT_NULL_VIOLATION", "23502"),
    (r"ICEBERG_LITE\.UNSUPPORTED|UNSUPPORTED_FEATURE(\..+)?|UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "0A000"),
    (r"ICEBERG_LITE\.(STORAGE_FAILED|UNREADABLE_FILE)", "58030"),
    (r"ICEBERG_LITE\.INVALID_METADATA", "XX001"),
    (r"ICEBERG_LITE\.COLUMN_WIDENED", "42825"),
    (r"ICEBERG_LITE\.JOB_FAILED", "58000"),
    # Conditions of Spark that the rows of a table can cause in a task.
    (r"MERGE_CARDINALITY_VIOLATION", "23K01"),
    (r"DIVIDE_BY_ZERO", "22012"),
    (r"CAST_INVALID_INPUT", "22018"),
    (r"CAST_OVERFLOW(_IN_TABLE_INSERT)?|ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|INVALID_ARRAY_INDEX", "22003"),
    (r"CANNOT_PARSE_TIMESTAMP", "22007"),
)


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise an error of a table, or the failure of a Spark job, as a subclass of `TableError`.

    An error of Spark that PySpark has converted to one of its own exceptions, such as `AnalysisException`, is raised
    unchanged, unless its condition has a class here.
    """
    try:
        yield
    except TableError:
        raise
    except Exception as error:
        typed = typed_error(error)
        if typed is None:
            raise
        raise typed from error


def typed_error(error: Exception) -> TableError | None:
    """Return the subclass of `TableError` for an error of PySpark or of Py4J.

    Return None if the error has no condition, or if its condition has no class and PySpark has converted the error.
    """
    thrown = _java_exception(error)
    found = _in_java(thrown) if thrown is not None else _in_python(error)
    if found is None:
        return None
    default = FailedJobError if _is_unconverted(error) and not _OUTSIDE_OF_JOBS.fullmatch(found.condition) else None
    kind = next((kind for pattern, kind in _CLASSES if re.fullmatch(pattern, found.condition)), default)
    return None if kind is None else kind(*found)


def _is_unconverted(error: Exception) -> bool:
    """Return whether PySpark has no class for the Java exception, and raises that of Py4J or of all gRPC errors."""
    return type(error).__name__ in ("Py4JJavaError", "SparkConnectGrpcException")


class _Found(NamedTuple):
    """The properties of an error of PySpark or of Py4J."""

    message: str
    condition: str
    sql_state: str | None
    parameters: Mapping[str, str]


def _java_exception(error: Exception) -> Any:
    """Return the Java exception that PySpark or Py4J has raised in Python; None if there is none."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def _in_python(error: Exception) -> _Found | None:
    """Return the properties of an error of PySpark without a Java exception; None if the error has no condition."""
    # An error that a Python function raised is not an error of a table. However, its text contains the stack trace of
    # the failed job, in which the patterns could find a condition.
    if not isinstance(error, PySparkException) or isinstance(error, PythonException):
        return None
    condition = error.getErrorClass()
    if condition is not None:
        state = error.getSqlState()  # type: ignore[func-returns-value]
        return _Found(str(error), condition, state, error.getMessageParameters() or {})
    message = str(error)
    match = _CONDITION_OF_TASK.search(message)
    if match is None and _is_unconverted(error):
        match = _SPARK_CONDITION_OF_TASK.search(message)
    match = match or _CONDITION.match(message)
    if match is None:
        return None
    state = next((state for pattern, state in _SQL_STATES if re.fullmatch(pattern, match.group(2))), None)
    return _Found(match.group(1), match.group(2), state, {})


def _in_java(thrown: Any) -> _Found | None:
    """Return the properties of a Java exception; None if it and its causes have no condition.

    The condition is that of the first cause that has one. If a Spark job failed, the message is that of the last cause
    with this condition, because the message of the job has a stack trace.
    """
    found: _Found | None = None
    for _ in range(_MAX_CAUSES):
        if thrown is None:
            break
        condition = thrown.getErrorClass() if _is_spark_error(thrown) else None
        if condition is not None and (found is None or found.condition == condition):
            found = _Found(
                str(thrown.getMessage()), condition, thrown.getSqlState(), thrown.getMessageParameters() or {}
            )
        thrown = thrown.getCause()
    return found


def _is_spark_error(thrown: Any) -> bool:
    """Return whether a Java exception is a `SparkThrowable`."""
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    return gateway is not None and bool(is_instance_of(gateway, thrown, "org.apache.spark.SparkThrowable"))
