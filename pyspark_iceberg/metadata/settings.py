"""The settings of a catalog: options of the command line, environment variables, and PyIceberg's configuration file.

Settings have the names that PyIceberg and iceberg-lite share (`uri`, `warehouse`, `s3.endpoint`, `token`, ...). The
file `.pyiceberg.yaml` and the variables `PYICEBERG_CATALOG__<NAME>__<KEY>` are read as PyIceberg reads them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from pyspark_iceberg.metadata.errors import MetadataError, UnconfiguredError

VARIABLE = "ICEBERG_LITE_CATALOG"
DEFAULT_NAME = "lite"

# The type of a catalog by the scheme of its URI. A URI can have the schemes that `pyspark_iceberg.iceberg_session`
# accepts, or those of SQLAlchemy, such as `sqlite`.
_TYPES = {
    "jdbc": "jdbc",
    "sqlite": "jdbc",
    "postgresql": "jdbc",
    "mysql": "jdbc",
    "http": "rest",
    "https": "rest",
    "thrift": "hive",
}
# The class that reads local files; it leaves other files to PyIceberg.
_LOCAL_FILES = "pyspark_iceberg.metadata.local_files.LocalFileIO"
# The types of PyIceberg that have another name here.
_ALIASES = {"sql": "jdbc", "in-memory": "jdbc"}
# Drivers of SQLAlchemy by the subprotocol of JDBC.
_DRIVERS = {"postgresql": "postgresql+psycopg2", "mysql": "mysql+pymysql"}


@dataclass(frozen=True)
class CatalogSettings:
    """The settings of a catalog.

    Attributes:
        name: the name of the catalog.
        type: `hadoop` (a file-system catalog), `jdbc`, `rest` or `hive`.
        properties: the properties without the type.
        nested: properties of PyIceberg whose values are not text, such as `auth` and `ssl`.
    """

    name: str
    type: str
    properties: Mapping[str, str]
    nested: Mapping[str, Any] = field(default_factory=dict)

    def for_spark(self) -> dict[str, str]:
        """Return the properties of the catalog in Spark, without the prefix `spark.sql.catalog.<name>`.

        Raises:
            MetadataError: Spark has no equivalent of a property.
        """
        for key in self.nested:
            instead = "; set token or credential" if key == "auth" else ""
            raise MetadataError(f"The property {key} has no equivalent in Spark{instead}")
        values = {"type": self.type, **self.properties}
        if "s3.region" in values:
            values.setdefault("client.region", values.pop("s3.region"))
        uri = values.get("uri", "")
        if self.type == "jdbc" and not uri.startswith("jdbc:"):
            values.update(_jdbc(uri))
        return values

    def for_pyiceberg(self) -> dict[str, Any]:
        """Return the properties of the catalog in PyIceberg."""
        values: dict[str, Any] = {"py-io-impl": _LOCAL_FILES, **self.properties, **self.nested}
        if "client.region" in values:
            values.setdefault("s3.region", values["client.region"])
        if self.type != "jdbc":
            return {"type": self.type, **values}
        if values.get("uri", "").startswith("jdbc:"):
            values["uri"] = _sqlalchemy(values)
        return {"type": "sql", **values, "init_catalog_tables": "false"}


def catalog_settings(
    name: str | None = None,
    *,
    type: str | None = None,
    warehouse: str | None = None,
    uri: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> CatalogSettings:
    """Return the settings of a catalog. Arguments override environment variables, which override the file.

    Args:
        name: the name; by default the variable `ICEBERG_LITE_CATALOG`, then `default-catalog` of the configuration.
        type: the type; by default that of the configuration, else it is derived from the URI.
        warehouse: the location of the tables.
        uri: the URI of a database, a REST server or a Hive Metastore.
        properties: additional properties.

    Raises:
        UnconfiguredError: there is no location of the tables.
        MetadataError: the configuration cannot be read; or it contains no catalog with this name, and there are no
            other arguments.
    """
    given = {"type": type, "warehouse": warehouse, "uri": uri, **(properties or {})}
    arguments = {key: value for key, value in given.items() if value is not None}
    chosen, configured = _configured(name or os.environ.get(VARIABLE) or None, has_arguments=bool(arguments))
    # With a name, arguments override single properties of this catalog in the configuration. Without a name, a location
    # or a type on the command line describes another catalog, so that the configuration is not used.
    values = {**configured, **arguments} if name or not arguments.keys() & {"warehouse", "uri", "type"} else arguments
    uri = values.get("uri", "")
    found = values.pop("type", None) or _TYPES.get(uri.partition(":")[0].partition("+")[0].lower(), "hadoop")
    kind = _ALIASES.get(found.lower(), found.lower())
    if kind == "hadoop" and "warehouse" not in values:
        raise UnconfiguredError(
            "Specify the location of the tables: --warehouse DIRECTORY or --uri URI before the command, or a catalog "
            "in the file .pyiceberg.yaml (see docs/command-line.md)"
        )
    if kind == "hadoop" or (kind == "jdbc" and "warehouse" in values):
        values["warehouse"] = _absolute(values["warehouse"])
    nested = {key: values.pop(key) for key in list(values) if not isinstance(values[key], str)}
    return CatalogSettings(chosen, kind, values, nested)


def _configured(name: str | None, *, has_arguments: bool) -> tuple[str, dict[str, Any]]:
    """Return the name of the catalog and its properties in the configuration."""
    from pyiceberg.utils.config import Config

    try:
        config = Config()
        chosen = name or config.get_default_catalog_name()
        found = config.get_catalog_config(chosen)
        known = ", ".join(sorted(config.get_known_catalogs())) or "none"
    except Exception as error:
        raise MetadataError(f"Cannot read the configuration file .pyiceberg.yaml: {error}") from error
    if found is None and name is not None and not has_arguments:
        raise MetadataError(f"The configuration has no catalog {name}. Catalogs in the configuration: {known}")
    if found is None and name is None:
        chosen = DEFAULT_NAME
    return chosen, dict(found or {})


def _absolute(location: str) -> str:
    from pathlib import Path

    has_scheme = "://" in location or location.startswith("file:")
    return location if has_scheme else str(Path(location).expanduser().absolute())


def _jdbc(uri: str) -> dict[str, str]:
    """Convert a URI of SQLAlchemy to properties of a JDBC catalog."""
    parts = urlsplit(uri)
    scheme = parts.scheme.partition("+")[0]
    if scheme == "sqlite":
        return {"uri": f"jdbc:sqlite:{unquote(parts.path[1:])}"}
    host = parts.hostname or "localhost"
    port = f":{parts.port}" if parts.port else ""
    query = f"?{parts.query}" if parts.query else ""
    values = {"uri": f"jdbc:{scheme}://{host}{port}{parts.path}{query}"}
    for key, value in (("jdbc.user", parts.username), ("jdbc.password", parts.password)):
        if value is not None:
            values[key] = unquote(value)
    return values


def _sqlalchemy(values: Mapping[str, str]) -> str:
    """Convert the properties of a JDBC catalog to a URI of SQLAlchemy."""
    uri = values["uri"].removeprefix("jdbc:")
    if uri.startswith("sqlite:"):
        return f"sqlite:///{uri.removeprefix('sqlite:').partition('?')[0]}"
    parts = urlsplit(uri)
    query = dict(parse_qsl(parts.query))
    user = values.get("jdbc.user", query.pop("user", None))
    password = values.get("jdbc.password", query.pop("password", None))
    login = "" if user is None else quote(user, safe="")
    if password is not None:
        login += ":" + quote(password, safe="")
    driver = _DRIVERS.get(parts.scheme, parts.scheme)
    rest = f"?{urlencode(query)}" if query else ""
    return f"{driver}://{login}{'@' if login else ''}{parts.netloc}{parts.path}{rest}"
