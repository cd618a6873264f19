"""Typed settings of catalogs and storages, the location of the jar, and the checks of versions, without Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pyspark_iceberg import (
    ADLS,
    GCS,
    HDFS,
    S3,
    Catalog,
    FileSystemCatalog,
    HiveCatalog,
    IcebergLiteError,
    JarNotFoundError,
    JdbcCatalog,
    RestCatalog,
    UnsupportedVersionError,
    catalog_settings,
    configure,
    connector_jars,
)
from pyspark_iceberg.versions import check_distribution, check_java, check_session

PREFIX = "spark.sql.catalog.lite."


def settings(catalog: Catalog) -> dict[str, str]:
    """Return the settings of the catalog `lite`, without their prefix."""
    found = catalog_settings(catalog)
    return {key[len(PREFIX) :]: value for key, value in found.items() if key.startswith(PREFIX)}


def test_each_class_of_catalogs_returns_the_properties_of_its_type(tmp_path: Path) -> None:
    assert settings(FileSystemCatalog(tmp_path, other={"cache-enabled": "false"})) == {
        "type": "hadoop",
        "warehouse": str(tmp_path),
        "cache-enabled": "false",
    }
    assert settings(JdbcCatalog("jdbc:postgresql://h/d", "s3a://b/wh", user="u", password="p")) == {
        "type": "jdbc",
        "uri": "jdbc:postgresql://h/d",
        "jdbc.user": "u",
        "jdbc.password": "p",
        "warehouse": "s3a://b/wh",
    }
    rest = RestCatalog("https://c", "name", credential="i:s", oauth2_server_uri="https://t", scope="ALL")
    assert settings(rest) == {
        "type": "rest",
        "uri": "https://c",
        "warehouse": "name",
        "credential": "i:s",
        "oauth2-server-uri": "https://t",
        "scope": "ALL",
    }
    assert settings(HiveCatalog()) == {"type": "hive"}
    assert settings(HiveCatalog("thrift://m:9083", "relative"))["warehouse"] == str(Path("relative").absolute())


def test_each_storage_has_the_settings_of_its_file_system() -> None:
    s3 = S3("eu-west-1", "http://s3", "key", "word", path_style_access=True, other={"s3.sse.type": "s3"})
    assert settings(FileSystemCatalog("s3a://b/wh", s3)) == {
        "type": "hadoop",
        "warehouse": "s3a://b/wh",
        "client.region": "eu-west-1",
        "s3.endpoint": "http://s3",
        "s3.access-key-id": "key",
        "s3.secret-access-key": "word",
        "s3.path-style-access": "true",
        "s3.sse.type": "s3",
    }
    assert GCS("p", key_file="/k.json").properties()["hadoop.fs.gs.auth.service.account.json.keyfile"] == "/k.json"
    host = "acc.dfs.core.windows.net"
    assert ADLS("acc", "key").properties() == {f"hadoop.fs.azure.account.key.{host}": "key"}
    endpoint = ADLS("acc", tenant_id="t", client_id="c", client_secret="s").properties()[
        f"hadoop.fs.azure.account.oauth2.client.endpoint.{host}"
    ]
    assert endpoint == "https://login.microsoftonline.com/t/oauth2/token"
    with pytest.raises(IcebergLiteError, match="tenant"):
        ADLS("acc", client_id="c", client_secret="s").properties()
    own = {f"fs.azure.account.oauth2.client.endpoint.{host}": "https://login.example.com/token"}
    assert f"hadoop.{next(iter(own))}" in ADLS("acc", client_id="c", client_secret="s", hadoop=own).properties()
    assert HDFS({"dfs.nameservices": "ns"}).properties() == {"hadoop.dfs.nameservices": "ns"}


def test_settings_of_rest_and_jdbc_catalogs_are_documented() -> None:
    docs = Path(__file__).resolve().parent.parent.parent / "docs"
    text = "".join(page.read_text(encoding="utf-8") for page in [*docs.glob("catalogs/*.md"), docs / "reference.md"])
    rest = RestCatalog("u", "w", "t", "c", "o", "s", S3("r", "e", "a", "s", "t", True))
    for key in [*settings(rest), *settings(JdbcCatalog("jdbc:x", "w", "u", "p"))]:
        assert re.search(rf"[`.]{re.escape(key)}\b", text), key


def test_secrets_are_not_shown() -> None:
    shown = repr(RestCatalog("u", token="secret1", credential="secret2", storage=S3(secret_access_key="secret3")))
    assert "secret" not in shown
    assert "secret" not in repr(JdbcCatalog("u", "w", password="secret")) + repr(ADLS("a", "secret"))


def test_properties_complete_and_override_those_of_a_catalog() -> None:
    found = catalog_settings(HiveCatalog("thrift://a"), properties={"uri": "thrift://b", "clients": "3"}, default=False)
    assert (found[f"{PREFIX}uri"], found[f"{PREFIX}clients"], found[f"{PREFIX}type"]) == ("thrift://b", "3", "hive")


class Builder:
    """Replaces a SparkSession.Builder, because real builders share their options."""

    def __init__(self, **options: str) -> None:
        self._options = {key.replace("_", "."): value for key, value in options.items()}

    def config(self, key: str, value: str) -> Builder:
        """Set an option."""
        self._options[key] = value
        return self


def configured(builder: Builder, jar: str | Path | None = None) -> dict[str, str]:
    configure(builder, {}, jar=jar)  # type: ignore[arg-type]
    return builder._options


def test_the_jar_comes_from_the_package_a_path_or_coordinates(tmp_path: Path) -> None:
    assert configured(Builder())["spark.jars"] == ",".join(map(str, connector_jars()))
    jar = tmp_path / "own.jar"
    jar.touch()
    assert configured(Builder(), jar)["spark.jars"] == str(jar)
    assert configured(Builder(), "s3a://b/own.jar")["spark.jars"] == "s3a://b/own.jar"
    coordinates = configured(Builder(spark_jars_packages="g:other:1"), "io.github:iceberg-lite:0.1.0")
    assert coordinates["spark.jars.packages"] == "g:other:1,io.github:iceberg-lite:0.1.0"
    assert "spark.jars" not in coordinates
    with pytest.raises(JarNotFoundError, match="There is no jar"):
        configured(Builder(), tmp_path / "missing.jar")


def test_no_jar_is_added_to_a_session_that_has_the_connector() -> None:
    for key in ("spark_jars", "spark_jars_packages"):
        builder = Builder(**{key: "io.github.iceberg-lite:iceberg-lite-spark-3.5_2.12:0.1.0"})
        before = dict(builder._options)
        added = configured(builder)
        assert {key: added[key] for key in before} == before
        assert len([key for key in added if "jars" in key]) == 1


def distribution(directory: Path, jar: str) -> Path:
    (directory / "jars").mkdir()
    (directory / "jars" / jar).touch()
    return directory


@pytest.mark.parametrize(
    ("jar", "message"),
    [
        ("spark-core_2.12-3.4.1.jar", r"Spark 3\.4 is not supported; install Spark 3\.5: pip install"),
        ("spark-core_2.13-4.0.0.jar", r"Spark 4\.0 is not supported"),
        ("spark-core_2.13-3.5.9.jar", r"Spark for Scala 2\.13 is not supported; use Spark 3\.5 for Scala 2\.12"),
    ],
)
def test_an_unsupported_spark_or_scala_is_reported_in_one_line(tmp_path: Path, jar: str, message: str) -> None:
    with pytest.raises(UnsupportedVersionError, match=message) as error:
        check_distribution(distribution(tmp_path, jar))
    assert "\n" not in str(error.value)


def test_only_supported_or_unknown_versions_of_spark_are_accepted(tmp_path: Path) -> None:
    check_distribution(tmp_path)
    check_distribution(distribution(tmp_path, "spark-core_2.12-3.5.0.jar"))
    check_session("3.5.3")
    with pytest.raises(UnsupportedVersionError, match=r"has Spark 3\.50\.1"):
        check_session("3.50.1")


def install_java(home: Path, version: str) -> None:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)


def test_a_java_that_is_too_old_too_new_or_missing_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UnsupportedVersionError, match=r"There is no java in JAVA_HOME .*; install JDK 17"):
        check_java()
    install_java(tmp_path, "1.8.0_402")
    with pytest.raises(UnsupportedVersionError, match="Java 8 is too old"):
        check_java()
    install_java(tmp_path / "next", "21.0.4")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "next"))
    with pytest.raises(UnsupportedVersionError, match=r"Java 21 is too new for Spark 3\.5"):
        check_java()
    install_java(tmp_path / "new", "17.0.15")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", f"{tmp_path / 'new' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    check_java()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(UnsupportedVersionError, match="There is no java on the PATH"):
        check_java()
