"""Spark sessions that `iceberg_session` starts or extends, and their settings."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import IcebergLiteError, SessionConflictError, configure, connector_jars, iceberg_session
from pyspark_iceberg.session import EXTENSIONS_CLASS, _add_catalog, catalog_settings

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_warehouse_is_sufficient(tmp_path: Path) -> None:
    settings = catalog_settings(tmp_path)
    assert settings == {
        "spark.sql.catalog.lite": "iceberglite.spark.SparkCatalog",
        "spark.sql.catalog.lite.type": "hadoop",
        "spark.sql.catalog.lite.warehouse": str(tmp_path),
        "spark.sql.defaultCatalog": "lite",
    }


def test_a_relative_warehouse_becomes_absolute_and_a_uri_is_unchanged() -> None:
    assert Path(catalog_settings("wh")["spark.sql.catalog.lite.warehouse"]).is_absolute()
    assert catalog_settings("hdfs://nn/wh")["spark.sql.catalog.lite.warehouse"] == "hdfs://nn/wh"


def test_a_jdbc_uri_makes_a_jdbc_catalog(tmp_path: Path) -> None:
    settings = catalog_settings(tmp_path, catalog="c", uri="jdbc:sqlite:x.db", default=False)
    assert settings["spark.sql.catalog.c.type"] == "jdbc"
    assert "spark.sql.defaultCatalog" not in settings


def test_an_error_without_a_warehouse_says_what_to_pass() -> None:
    with pytest.raises(IcebergLiteError, match=r"iceberg_session\(warehouse="):
        catalog_settings()


def test_a_given_builder_keeps_its_jars_and_extensions() -> None:
    class Builder:
        """Replaces a SparkSession.Builder. It has only the members that `configure` uses."""

        def __init__(self) -> None:
            self._options = {"spark.jars": "own.jar", "spark.sql.extensions": "own.Extensions"}

        def config(self, key: str, value: str) -> Builder:
            self._options[key] = value
            return self

    builder = Builder()
    configure(builder, {})  # type: ignore[arg-type]
    jars = builder._options["spark.jars"].split(",")
    assert jars == ["own.jar", *map(str, connector_jars())]
    assert builder._options["spark.sql.extensions"] == "own.Extensions,iceberglite.spark.SparkSessionExtensions"


def test_a_running_session_gets_another_catalog(spark: SparkSession, tmp_path: Path) -> None:
    extended = iceberg_session(tmp_path, catalog="second", default=False)
    extended.sql("CREATE TABLE second.db.t AS SELECT 1 AS id")
    assert extended.table("second.db.t").count() == 1
    assert spark.conf.get("spark.sql.defaultCatalog") == "lite"


def test_a_catalog_of_the_running_session_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    for _ in range(2):
        iceberg_session(tmp_path / "one", catalog="kept", default=False)
    with pytest.raises(SessionConflictError, match="The catalog kept of the running session has other settings"):
        iceberg_session(tmp_path / "two", catalog="kept")
    assert spark.conf.get("spark.sql.catalog.kept.warehouse") == str(tmp_path / "one")
    assert spark.conf.get("spark.sql.defaultCatalog") == "lite"


def test_only_the_settings_of_the_catalog_itself_are_compared(tmp_path: Path) -> None:
    class Conf(dict[str, str]):
        """Replaces the settings of a session."""

        set = dict.__setitem__

    def listed(_: str) -> Any:
        return SimpleNamespace(collect=lambda: [{"key": key} for key in conf])

    conf = Conf({"spark.sql.extensions": EXTENSIONS_CLASS, "spark.sql.defaultCatalog": "other"})
    session: Any = SimpleNamespace(version="3.5.0", conf=conf, sql=listed)
    _add_catalog(session, catalog_settings(tmp_path))
    assert conf["spark.sql.defaultCatalog"] == "lite"
    conf["spark.sql.catalog.lite.cache-enabled"] = "false"
    before = dict(conf)
    _add_catalog(session, catalog_settings(tmp_path, catalog="lite2", default=False))
    with pytest.warns(UserWarning, match="has additional settings, which remain in effect: cache-enabled\\."):
        _add_catalog(session, catalog_settings(tmp_path))
    with pytest.warns(UserWarning, match="remain in effect: cache-enabled\\."):
        _add_catalog(session, catalog_settings(tmp_path), {"spark.sql.catalog.lite.cache-enabled": "true"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _add_catalog(session, catalog_settings(tmp_path), {"spark.sql.catalog.lite.cache-enabled": "false"})
        _add_catalog(session, catalog_settings(tmp_path, properties={"cache-enabled": "false"}))
    assert before.items() <= conf.items()
    for other in (tmp_path / "other", "hdfs://nn/wh"):
        with pytest.raises(SessionConflictError, match="The catalog lite of"):
            _add_catalog(session, catalog_settings(other, default=False))
    with pytest.raises(SessionConflictError, match="pass another catalog="):
        _add_catalog(session, catalog_settings(tmp_path, properties={"cache-enabled": "true"}))
    assert conf["spark.sql.catalog.lite.warehouse"] == str(tmp_path)


def test_a_warning_names_additional_settings_of_the_running_catalog(spark: SparkSession, tmp_path: Path) -> None:
    settings = {"cache-enabled": "false", "table-default.owner": "me"}
    iceberg_session(tmp_path, catalog="added", properties=settings, default=False)
    message = "The catalog added .* remain in effect: cache-enabled, table-default.owner"
    with pytest.warns(UserWarning, match=message) as caught:
        assert iceberg_session(tmp_path, catalog="added", default=False) is spark
    assert [warning.filename for warning in caught if warning.category is UserWarning] == [__file__]


def test_a_session_without_the_extensions_is_rejected_with_a_solution(tmp_path: Path) -> None:
    settings = {"spark.sql.extensions": "other.Extensions"}
    session: Any = SimpleNamespace(version="3.5.0", conf=settings)
    with pytest.raises(SessionConflictError, match=r"A Spark session without iceberg-lite .* \(spark\.stop\(\)\)"):
        _add_catalog(session, catalog_settings(tmp_path))
    assert settings == {"spark.sql.extensions": "other.Extensions"}


@pytest.mark.slow
def test_a_running_session_without_the_connector_is_rejected_with_a_solution(tmp_path: Path) -> None:
    program = (
        "from pyspark.sql import SparkSession\n"
        "from pyspark_iceberg import iceberg_session, SessionConflictError\n"
        "SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "try:\n"
        f"    iceberg_session({str(tmp_path)!r})\n"
        "except SessionConflictError as e:\n"
        "    print('refused:', e)\n"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "refused: A Spark session without iceberg-lite is already running" in completed.stdout
    assert "spark.stop()" in completed.stdout


def test_the_redaction_patterns_of_the_session_are_documented_and_match_secrets(spark: SparkSession) -> None:
    documented = (ROOT / "docs" / "security.md").read_text()
    for key in ("spark.redaction.regex", "spark.sql.redaction.options.regex"):
        pattern = spark.sparkContext.getConf().get(key) or "none"
        assert re.search(rf"^{re.escape(key)} +{re.escape(pattern)}$", documented, re.MULTILINE)
    assert all(re.search(pattern, text) for text in ("credential", "jdbc:postgresql://me:word@host/db", "token"))
