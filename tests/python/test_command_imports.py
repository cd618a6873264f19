"""The command `import` with tables of a Hive Metastore as sources, into tables of Hive and REST catalogs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

# Creates Hive tables, imports them with the command line into new and existing tables, and prints the results as JSON.
PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from typer.testing import CliRunner
from pyspark_iceberg import connector_jars
from pyspark_iceberg.cli.app import app

hive_uri, rest_uri, folder = sys.argv[1:]
settings = {
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.hive.metastore.uris": hive_uri,
    "spark.sql.extensions": "iceberglite.spark.SparkSessionExtensions",
    "spark.jars": ",".join(map(str, connector_jars())),
    "spark.ui.enabled": "false",
    "spark.sql.warehouse.dir": folder + "/hive",
    "spark.sql.shuffle.partitions": "2",
}
FLAT, PARTS = "spark_catalog.imports.flat", "spark_catalog.imports.parts"
CATALOGS = {
    "rest": ["--uri", rest_uri],
    "hive": ["--uri", hive_uri, "--catalog-type", "hive", "--warehouse", folder + "/hive-tables"],
}
found = {}
for kind, catalog in CATALOGS.items():
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    # The commands use this session.
    spark = builder.getOrCreate()
    if kind == "rest":
        spark.sql("CREATE NAMESPACE spark_catalog.imports")
        spark.sql(f"CREATE TABLE {FLAT} STORED AS PARQUET LOCATION '{folder}/flat' AS SELECT id FROM range(4)")
        spark.sql(f"CREATE TABLE {PARTS} USING parquet PARTITIONED BY (p) LOCATION '{folder}/parts' "
            "AS SELECT id, CAST(id % 2 AS INT) AS p FROM range(10)")

    def run(*arguments):
        result = CliRunner().invoke(app, [*catalog, *arguments])
        found.setdefault(kind, []).append([result.exit_code, result.stdout.strip(), result.stderr.strip()])

    run("sql", "CREATE NAMESPACE IF NOT EXISTS imported")
    run("import", FLAT, "imported.flat")
    run("import", PARTS, "imported.parts")
    run("sql", "SELECT p, count(*), sum(id) FROM imported.parts GROUP BY p ORDER BY p", "--json")
    run("import", PARTS, "imported.parts")
    run("sql", "CREATE TABLE imported.empty (id BIGINT)")
    run("import", FLAT, "imported.empty")
    run("sql", "SELECT (SELECT count(*) FROM imported.flat) AS a, (SELECT sum(id) FROM imported.empty) AS b", "--json")
    run("import", "lite.imported.flat", "imported.again")
    spark.stop()
print("FOUND", json.dumps(found))
"""


@pytest.mark.slow
def test_tables_of_hive_are_imported_into_tables_of_rest_and_hive_catalogs(
    hive_server: SimpleNamespace, rest_server: SimpleNamespace, tmp_path: Path
) -> None:
    # The servers may run as another user.
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    command = [sys.executable, "-c", PROGRAM, hive_server.uri, rest_server.uri, str(tmp_path)]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-5000:] + completed.stderr[-3000:]
    found = json.loads(completed.stdout.split("FOUND ", 1)[1])
    assert list(found) == ["rest", "hive"]
    for kind, results in found.items():
        assert [code for code, _, _ in results] == [0, 0, 0, 0, 1, 0, 0, 0, 1], (kind, results)
        _, flat, parts, sums, again, _, existing, counts, iceberg = results
        assert re.fullmatch(r"Imported \d+ data files into imported.flat", flat[1])
        assert re.fullmatch(r"Imported \d+ data files into imported.parts", parts[1])
        assert [list(row.values()) for row in json.loads(sums[1])] == [[0, 5, 20], [1, 5, 25]]
        assert "files are already in the table" in again[2]
        assert re.fullmatch(r"Imported \d+ data files into imported.empty", existing[1])
        assert json.loads(counts[1]) == [{"a": 4, "b": 6}]
        assert "The source must be a table of the catalog spark_catalog" in iceberg[2]
