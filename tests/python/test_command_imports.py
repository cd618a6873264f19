"""The command `import` with tables of a Hive Metastore as sources, into tables of Hive and REST catalogs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from servers.process import ROOT

# Creates Hive tables, imports them with the command line into new and existing tables, and prints what it finds.
PROGRAM = """
import json, sys
from typer.testing import CliRunner
from pyspark_iceberg.cli.app import app

hive_uri, rest_uri, folder = sys.argv[1:]
HIVE_CLIENT = {
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.hive.metastore.uris": hive_uri,
    "spark.ui.enabled": "false",
    "spark.sql.warehouse.dir": folder + "/hive",
    "spark.sql.shuffle.partitions": "2",
}
conf = [part for pair in HIVE_CLIENT.items() for part in ("--conf", "=".join(pair))]


def run(catalog, *arguments):
    result = CliRunner().invoke(app, [*catalog, *conf, *arguments])
    print(arguments[0], arguments[1], result.exit_code, result.stdout.strip(), result.stderr.strip())
    return result


rest = ["--uri", rest_uri]
hive = ["--uri", hive_uri, "--catalog-type", "hive", "--warehouse", folder + "/hive-tables"]
flat, parts = "spark_catalog.imports.flat", "spark_catalog.imports.parts"
run(rest, "sql", "CREATE NAMESPACE IF NOT EXISTS spark_catalog.imports")
run(rest, "sql", f"CREATE TABLE {flat} STORED AS PARQUET LOCATION '{folder}/flat' AS SELECT id FROM range(4)")
run(rest, "sql", f"CREATE TABLE {parts} USING parquet PARTITIONED BY (p) LOCATION '{folder}/parts' "
    "AS SELECT id, CAST(id % 2 AS INT) AS p FROM range(10)")
for catalog in (rest, hive):
    run(catalog, "sql", "CREATE NAMESPACE IF NOT EXISTS imported")
    run(catalog, "import", flat, "imported.flat")
    run(catalog, "import", parts, "imported.parts")
    run(catalog, "import", parts, "imported.parts")
    for table in ("flat", "parts"):
        counted = run(catalog, "sql", f"SELECT count(*) AS n, sum(id) AS s FROM imported.{table}", "--json")
        print("COUNTED", json.dumps(json.loads(counted.stdout)))
run(rest, "import", "imported.flat", "imported.again")
"""


@pytest.mark.slow
def test_tables_of_hive_are_imported_into_tables_of_rest_and_hive_catalogs(
    hive_server: SimpleNamespace, rest_server: SimpleNamespace, tmp_path: Path
) -> None:
    # The servers run as other users than the tests, perhaps.
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    command = [sys.executable, "-c", PROGRAM, hive_server.uri, rest_server.uri, str(tmp_path)]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-5000:] + completed.stderr[-3000:]
    print(completed.stdout)
