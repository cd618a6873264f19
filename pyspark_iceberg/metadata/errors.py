"""Errors of the readers of metadata. This module does not import PySpark, so that commands start fast."""

from __future__ import annotations


class MetadataError(Exception):
    """A table, a snapshot or a catalog cannot be found or read; the message says why."""


class UnconfiguredError(MetadataError):
    """Neither the arguments nor the configuration contain the location of the tables."""


class UnreadableError(MetadataError):
    """PyIceberg cannot read the table, but Spark may be able to."""
