"""Catalogs and storages as typed settings, for `iceberg_session` and `catalog_settings`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from pyspark_iceberg.errors import IcebergLiteError

PathLike = Union[str, "os.PathLike[str]"]


class Storage(ABC):
    """Access to the files of a catalog's tables."""

    @abstractmethod
    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog that configure the storage."""


@dataclass(frozen=True)
class S3(Storage):
    """S3, or a store with the same protocol. The session needs the package `org.apache.hadoop:hadoop-aws:3.3.4`.

    Attributes:
        region: the region, such as `eu-west-1`.
        endpoint: the URL of a store that is not AWS.
        access_key_id: the access key; without it, the credentials of the environment or the machine are used.
        secret_access_key: the secret of the access key.
        session_token: the token of temporary credentials.
        path_style_access: whether the bucket is a part of the path instead of the host name.
        other: further settings, such as `s3.sse.type`.
    """

    region: str | None = None
    endpoint: str | None = None
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    path_style_access: bool = False
    other: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog that configure the storage."""
        return {
            **_present(
                {
                    "client.region": self.region,
                    "s3.endpoint": self.endpoint,
                    "s3.access-key-id": self.access_key_id,
                    "s3.secret-access-key": self.secret_access_key,
                    "s3.session-token": self.session_token,
                    "s3.path-style-access": "true" if self.path_style_access else None,
                }
            ),
            **self.other,
        }


@dataclass(frozen=True)
class GCS(Storage):
    """Google Cloud Storage. The session needs Google's connector for Hadoop 3 (`gcs-connector`).

    A file-system catalog cannot commit to this storage; use a JDBC, REST or Hive catalog.

    Attributes:
        project_id: the project.
        key_file: the path of the JSON key of a service account, on each machine; without it, the credentials of the
            environment or the machine are used.
        hadoop: further settings of Hadoop, such as `fs.gs.block.size`.
    """

    project_id: str | None = None
    key_file: str | None = None
    hadoop: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog that configure the storage."""
        account = "SERVICE_ACCOUNT_JSON_KEYFILE"
        settings = {
            "fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
            "fs.gs.project.id": self.project_id,
            "fs.gs.auth.type": None if self.key_file is None else account,
            "fs.gs.auth.service.account.json.keyfile": self.key_file,
        }
        return _hadoop({**_present(settings), **self.hadoop})


@dataclass(frozen=True)
class ADLS(Storage):
    """Azure Data Lake Storage (`abfss://container@account.dfs.core.windows.net/path`).

    The session needs the package `org.apache.hadoop:hadoop-azure:3.3.4`.

    Attributes:
        account: the name of the storage account.
        account_key: the key of the account.
        tenant_id: the tenant of the application `client_id`.
        client_id: the id of an application whose credentials are used instead of an account key.
        client_secret: the secret of the application.
        hadoop: further settings of Hadoop, such as `fs.azure.io.retry.max.retries`.

    Raises:
        IcebergLiteError: the tenant of the application is missing; raised by `properties`.
    """

    account: str
    account_key: str | None = field(default=None, repr=False)
    tenant_id: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    hadoop: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog that configure the storage."""
        host = f"{self.account}.dfs.core.windows.net"
        settings: dict[str, str | None] = {f"fs.azure.account.key.{host}": self.account_key}
        if self.client_id is not None:
            endpoint = f"fs.azure.account.oauth2.client.endpoint.{host}"
            if self.tenant_id is None and endpoint not in self.hadoop:
                raise IcebergLiteError(f"Specify the tenant of the application {self.client_id}: ADLS(tenant_id=...)")
            provider = "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"
            settings[f"fs.azure.account.auth.type.{host}"] = "OAuth"
            settings[f"fs.azure.account.oauth.provider.type.{host}"] = provider
            settings[f"fs.azure.account.oauth2.client.id.{host}"] = self.client_id
            settings[f"fs.azure.account.oauth2.client.secret.{host}"] = self.client_secret
            settings[endpoint] = f"https://login.microsoftonline.com/{self.tenant_id}/oauth2/token"
        return _hadoop({**_present(settings), **self.hadoop})


@dataclass(frozen=True)
class HDFS(Storage):
    """HDFS, or another file system of Hadoop.

    Attributes:
        hadoop: settings of Hadoop that are not in its configuration files, such as `dfs.nameservices`.
    """

    hadoop: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog that configure the storage."""
        return _hadoop(self.hadoop)


class Catalog(ABC):
    """A catalog of Iceberg tables."""

    @abstractmethod
    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog, without the prefix `spark.sql.catalog.<name>.`."""


@dataclass(frozen=True)
class FileSystemCatalog(Catalog):
    """A catalog in the directories of a file system, without a server.

    Attributes:
        warehouse: the directory of the catalog: a path, or a URI of a Hadoop file system.
        storage: access to the files; by default as in Spark's configuration.
        other: further properties, such as `cache-enabled`.
    """

    warehouse: PathLike
    storage: Storage | None = None
    other: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog, without the prefix `spark.sql.catalog.<name>.`."""
        return _catalog("hadoop", self, {"warehouse": location(self.warehouse)})


@dataclass(frozen=True)
class JdbcCatalog(Catalog):
    """A catalog in a database. The session needs the driver of the database, except for SQLite.

    Attributes:
        uri: the JDBC URL, such as `jdbc:postgresql://host/database`.
        warehouse: the location of tables and namespaces without a location of their own.
        user: the user of the database.
        password: the password of the user.
        storage: access to the files; by default as in Spark's configuration.
        other: further properties, such as `jdbc.strict-mode`.
    """

    uri: str
    warehouse: PathLike
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    storage: Storage | None = None
    other: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog, without the prefix `spark.sql.catalog.<name>.`."""
        settings = {"uri": self.uri, "jdbc.user": self.user, "jdbc.password": self.password}
        return _catalog("jdbc", self, {**settings, "warehouse": location(self.warehouse)})


@dataclass(frozen=True)
class RestCatalog(Catalog):
    """A catalog on a server with the Iceberg REST protocol.

    Attributes:
        uri: the URL of the server.
        warehouse: the name of the warehouse, which the server interprets.
        token: a bearer token.
        credential: `client-id:client-secret` for OAuth2.
        oauth2_server_uri: the endpoint for tokens.
        scope: the scope of the token.
        storage: access to the files, unless the server provides it.
        other: further properties, such as `rest.auth.type`.
    """

    uri: str
    warehouse: str | None = None
    token: str | None = field(default=None, repr=False)
    credential: str | None = field(default=None, repr=False)
    oauth2_server_uri: str | None = None
    scope: str | None = None
    storage: Storage | None = None
    other: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog, without the prefix `spark.sql.catalog.<name>.`."""
        settings = {
            "uri": self.uri,
            "warehouse": self.warehouse,
            "token": self.token,
            "credential": self.credential,
            "oauth2-server-uri": self.oauth2_server_uri,
            "scope": self.scope,
        }
        return _catalog("rest", self, settings)


@dataclass(frozen=True)
class HiveCatalog(Catalog):
    """A catalog in a Hive Metastore.

    Attributes:
        uri: the Thrift address, such as `thrift://metastore:9083`; by default as in `hive-site.xml`.
        warehouse: the location of databases without a location of their own; by default, the Metastore decides.
        storage: access to the files; by default as in Spark's configuration.
        other: further properties, such as `list-all-tables`.
    """

    uri: str | None = None
    warehouse: PathLike | None = None
    storage: Storage | None = None
    other: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Return the properties of the catalog, without the prefix `spark.sql.catalog.<name>.`."""
        warehouse = None if self.warehouse is None else location(self.warehouse)
        return _catalog("hive", self, {"uri": self.uri, "warehouse": warehouse})


def location(warehouse: PathLike) -> str:
    """Make a local path absolute, because Spark processes may run in other directories; return a URI unchanged."""
    text = os.fspath(warehouse)
    return text if "://" in text or text.startswith("file:") else str(Path(text).expanduser().absolute())


def _catalog(
    kind: str,
    catalog: FileSystemCatalog | JdbcCatalog | RestCatalog | HiveCatalog,
    settings: Mapping[str, str | None],
) -> dict[str, str]:
    storage = {} if catalog.storage is None else catalog.storage.properties()
    return {"type": kind, **_present(settings), **storage, **catalog.other}


def _present(settings: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if value is not None}


def _hadoop(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"hadoop.{key}": value for key, value in settings.items()}
