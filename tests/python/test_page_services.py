"""The settings and the code of pages that need a service: a database, a REST server or a key store."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pages
import pytest
from servers.kinds import PASSWORD, USER
from servers.process import jars

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
USE = """
spark.sql("CREATE TABLE db.page AS SELECT 7 AS id")
print("catalog:", spark.catalog.currentCatalog(), spark.conf.get("spark.sql.catalog.lite.type"))
print("rows:", [row.id for row in spark.table("db.page").collect()])
spark.stop()
"""

pytestmark = pytest.mark.slow


def run(code: str, folder: Path, **variables: str) -> dict[str, str]:
    """Run a program in a new process, and return the values that it prints after names."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)


def python_of(page: str, replaced: dict[str, str]) -> str:
    """Return the only block of Python of a page, with other values instead of examples."""
    (code,) = [block.code for block in pages.blocks_of(DOCS / page) if block.language == "python"]
    for example, value in replaced.items():
        assert example in code, f"{page} does not contain {example}"
        code = code.replace(example, value)
    return f"from pyspark_iceberg import iceberg_session\n{code}"


def test_the_session_of_the_jdbc_page_has_a_catalog_on_postgresql(
    postgres_server: SimpleNamespace, tmp_path: Path
) -> None:
    driver = next(jar for jar in jars("client") if "/postgresql-" in jar)
    code = python_of(
        "catalogs/jdbc.md",
        {
            "s3a://bucket/warehouse": str(tmp_path / "tables"),
            "jdbc:postgresql://db.example.com/catalog": postgres_server.url,
            '"jdbc.user": "lite"': f'"jdbc.user": {USER!r}',
            '"spark.jars.packages", "org.postgresql:postgresql:42.7.7"': f'"spark.jars", {driver!r}',
        },
    )
    shown = run(f"password = {PASSWORD!r}\n{code}{USE}", tmp_path)
    assert shown == {"catalog": "lite jdbc", "rows": "[7]"}


def test_the_session_of_the_rest_page_has_a_catalog_on_a_rest_server(
    rest_server: SimpleNamespace, tmp_path: Path
) -> None:
    code = python_of("catalogs/rest.md", {"https://catalog.example.com": rest_server.uri})
    assert run(code + 'spark.sql("CREATE NAMESPACE IF NOT EXISTS db")' + USE, tmp_path) == {
        "catalog": "lite rest",
        "rows": "[7]",
    }


def test_the_table_of_the_encryption_page_is_encrypted(tmp_path: Path) -> None:
    page = DOCS / "encryption.md"
    (keytool,) = re.findall(r"^keytool .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    password = ["-storepass:env", "ORDERS_KEYS_PASSWORD"]
    environment = {**os.environ, "ORDERS_KEYS_PASSWORD": "word-of-the-tests"}
    subprocess.run([*keytool.split(), *password], cwd=tmp_path, env=environment, check=True, capture_output=True)
    lines = re.findall(r"^spark\.sql\.catalog\.lite\.(\S+) += (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    properties: dict[str, Any] = {**dict(lines), "encryption.keystore.path": str(tmp_path / "keys.p12")}
    assert len(properties) == 3
    (statement,) = [block.code for block in pages.blocks_of(page)]
    code = (
        "from pyspark_iceberg import Table, iceberg_session\n"
        f"spark = iceberg_session('warehouse', properties={properties!r})\n"
        f"spark.sql({statement.strip().rstrip(';')!r})\n"
        "spark.sql(\"INSERT INTO lite.db.orders VALUES (1, 'Ada')\")\n"
        "print('rows:', [tuple(row) for row in spark.table('lite.db.orders').collect()])\n"
        "print('file:', Table(spark, 'lite.db.orders').files().first().path)\n"
    )
    shown = run(code, tmp_path, ORDERS_KEYS_PASSWORD="word-of-the-tests")
    assert shown["rows"] == "[(1, 'Ada')]"
    # Parquet files with an encrypted footer begin with these bytes.
    assert Path(shown["file"].removeprefix("file:")).read_bytes().startswith(b"PARE")
