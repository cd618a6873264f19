"""What goes wrong on the Python side. Errors of tables reach Python as PySpark's own exceptions."""

from __future__ import annotations


class IcebergLiteError(Exception):
    """The base of this package's errors."""


class JarNotFoundError(IcebergLiteError):
    """The connector's jar is not in the package: it was installed from a source tree that has not built it."""


class SessionConflictError(IcebergLiteError):
    """A Spark session without the connector is already running, and jars cannot be added to it."""
