"""The catalog of a command, and how errors end a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

import typer
import typer.core

from pyspark_iceberg.cli.interrupts import INTERRUPTED, cancelling, interruptible, uninterrupted
from pyspark_iceberg.cli.logs import only_errors
from pyspark_iceberg.cli.output import visible
from pyspark_iceberg.metadata.errors import MetadataError, UnconfiguredError, UnreadableError
from pyspark_iceberg.metadata.model import MetadataSource
from pyspark_iceberg.metadata.settings import VARIABLE, CatalogSettings, catalog_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_iceberg.table import Table

FAILURE = 1
FINDINGS = 3

_DEFAULT_CATALOG = "spark.sql.defaultCatalog"


def pairs(values: Optional[Sequence[str]], option: str) -> dict[str, str]:
    """Split `KEY=VALUE` arguments.

    Raises:
        typer.BadParameter: an argument has no `=`.
    """
    found = {}
    for value in values or ():
        key, equals, text = value.partition("=")
        if not equals:
            raise typer.BadParameter(f"{value!r} is not of the form KEY=VALUE", param_hint=option)
        found[key.strip()] = text.strip()
    return found


class Group(typer.core.TyperGroup):
    """The group of commands. It writes errors of tables and catalogs without a stack trace."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MetadataError as error:
            _fail(error)
        except Exception as error:
            # PySpark is not imported for its errors: without PySpark, none of its errors can occur.
            if "pyspark.errors" not in sys.modules or not _is_expected(error):
                raise
            _fail(_readable(error))

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; an interrupt ends it with exit code 130."""
        try:
            return super().main(*args, **kwargs)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)


def _fail(error: Exception) -> None:
    # The text of an error of Py4J has the whole stack of Java.
    thrown = getattr(error, "java_exception", None)
    text = str(error) if thrown is None else str(thrown.toString()).partition("\n")[0]
    typer.echo(visible(f"Error: {text}"), err=True)
    raise typer.Exit(FAILURE) from error


def _is_expected(error: Exception) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from pyspark_iceberg.errors import IcebergLiteError

    return isinstance(error, (PySparkException, Py4JJavaError, IcebergLiteError))


def _readable(error: Exception) -> Exception:
    from pyspark_iceberg.errors import typed_error

    return typed_error(error) or error


@dataclass(frozen=True)
class Catalog:
    """The options of the catalog."""

    name: Optional[str]
    kind: Optional[str]
    warehouse: Optional[str]
    uri: Optional[str]
    properties: Mapping[str, str]
    spark_settings: Mapping[str, str]

    def settings(self) -> CatalogSettings:
        """Return the settings of the catalog.

        Raises:
            MetadataError: no catalog is configured.
        """
        return catalog_settings(
            self.name, type=self.kind, warehouse=self.warehouse, uri=self.uri, properties=self.properties
        )

    def table_names(self, namespace: Optional[str]) -> list[str]:
        """Return the names of the tables of the catalog or of a namespace."""
        from pyspark_iceberg.metadata import pyiceberg_source

        return pyiceberg_source.table_names(self.settings(), namespace)

    @contextmanager
    def source(self, name: str) -> Iterator[MetadataSource]:
        """Open the metadata of a table with PyIceberg, or with Spark if PyIceberg cannot read it."""
        from pyspark_iceberg.metadata import pyiceberg_source

        try:
            found = pyiceberg_source.open_table(self._settings(needs_catalog="/" not in name), name)
        except UnreadableError as error:
            typer.echo(visible(f"{error}. Starting Spark instead"), err=True)
        else:
            yield found
            return
        from pyspark_iceberg.metadata.spark_source import SparkSource

        with self.table(name) as table:
            yield SparkSource(table)

    @contextmanager
    def table(self, name: str) -> Iterator[Table]:
        """Open a table in a Spark session (see `session`)."""
        from pyspark_iceberg.metadata.names import qualified
        from pyspark_iceberg.table import Table

        with self.session(needs_catalog="/" not in name) as spark:
            if "/" in name:
                yield Table.for_path(spark, name)
            else:
                # The first part of a name is never a catalog, as in commands without Spark.
                yield Table(spark, qualified(spark.catalog.currentCatalog(), name))

    @contextmanager
    def session(self, *, needs_catalog: bool = True, runs_python: bool = False) -> Iterator[SparkSession]:
        """Start a Spark session with the catalog, and stop it at the end. A running session is used and not stopped.

        Args:
            needs_catalog: whether it is an error if no catalog is configured. A table given by its path needs none.
            runs_python: whether the user's Python code runs, in which an interrupt raises `KeyboardInterrupt`.
        """
        from pyspark.sql import SparkSession

        from pyspark_iceberg.session import iceberg_session

        settings = self._settings(needs_catalog=needs_catalog)
        running = SparkSession.getActiveSession()
        default = None if running is None else running.conf.get(_DEFAULT_CATALOG, None)
        builder = SparkSession.builder.appName("iceberg-lite").config("spark.ui.showConsoleProgress", "false")
        for key, value in self.spark_settings.items():
            builder = builder.config(key, value)
        with only_errors(), uninterrupted() if running is None else nullcontext():
            if settings is None:
                spark = running or iceberg_session("spark-warehouse", builder=builder)
            else:
                properties = settings.for_spark()
                spark = iceberg_session(catalog=settings.name, properties=properties, builder=builder)
        try:
            handler = cancelling if runs_python else interruptible
            with nullcontext() if running is not None else handler(spark):
                yield spark
        finally:
            if running is None:
                spark.stop()
            elif default is None:
                running.conf.unset(_DEFAULT_CATALOG)
            else:
                running.conf.set(_DEFAULT_CATALOG, default)

    def _settings(self, *, needs_catalog: bool) -> Optional[CatalogSettings]:
        """Return the settings of the catalog; None if none is needed, and none is named or configured."""
        try:
            return self.settings()
        except UnconfiguredError:
            if needs_catalog or self.name or os.environ.get(VARIABLE):
                raise
            return None


def catalog_of(context: typer.Context) -> Catalog:
    """Return the options of the catalog."""
    found = context.find_root().obj
    assert isinstance(found, Catalog)  # noqa: S101 - set by the callback of the application
    return found
