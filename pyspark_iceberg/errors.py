"""Errors of the Python package. Errors of tables are raised as PySpark's own exceptions."""

from __future__ import annotations


class IcebergLiteError(Exception):
    """Base class of this package's errors."""


class JarNotFoundError(IcebergLiteError):
    """The package does not contain the connector's jar: it was installed from a source tree without a build."""


class SessionConflictError(IcebergLiteError):
    """A Spark session without the connector is already running, and jars cannot be added to it."""
