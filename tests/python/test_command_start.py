"""How the command line starts: the program, its completion, and the catalog that it finds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pyspark_iceberg.cli.app import app
from pyspark_iceberg.cli.context import Catalog
from pyspark_iceberg.cli.logs import only_errors
from pyspark_iceberg.metadata.settings import CatalogSettings, catalog_settings

CONFIGURED = "default-catalog: work"


def test_the_module_runs_the_command_line() -> None:
    command = [sys.executable, "-m", "pyspark_iceberg", "--help"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    for name in ("sql", "shell", "tables", "describe", "history", "files", "diff", "maintain", "doctor", "report"):
        assert name in completed.stdout


# Completes each argument as the script of a shell does, which sets these variables, and prints an empty line after it.
COMPLETE = """
import os, sys
from pyspark_iceberg.cli import main

for line in sys.argv[1:]:
    os.environ.update(COMP_WORDS=line, COMP_CWORD=str(line.count(" ")), _TYPER_COMPLETE_ARGS=line)
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print("\\n")
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str) -> None:
    expected = {"hi": "history", "--ware": "--warehouse", "expire --ret": "--retain-last"}
    environment = {
        **os.environ,
        "_ICEBERG_LITE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    program = [sys.executable, "-c", COMPLETE, *(f"iceberg-lite {typed}" for typed in expected)]
    answer = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    completed = re.split(r"\n{2,}", answer.stdout.rstrip())
    assert len(completed) == len(expected)
    for shown, word in zip(completed, expected.values()):
        assert word in re.findall(r"[\w-]+", shown)


def test_completion_is_installed_for_the_shell_of_the_user(tmp_path: Path) -> None:
    program = (
        "import shellingham; shellingham.detect_shell = lambda: ('bash', '/bin/bash'); "
        "from pyspark_iceberg.cli import main; main()"
    )
    environment = {**os.environ, "HOME": str(tmp_path)}

    def run(option: str) -> str:
        command = [sys.executable, "-c", program, option]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert "bash completion installed" in run("--install-completion")
    (script,) = (path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".bashrc")
    assert str(script) in (tmp_path / ".bashrc").read_text(encoding="utf-8")
    assert script.read_text(encoding="utf-8").strip() == run("--show-completion").strip()
    assert "complete -o default -F _iceberg_lite_completion iceberg-lite" in script.read_text(encoding="utf-8")


def test_the_log_of_spark_is_the_one_that_the_user_has_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(variable, raising=False)

    def options() -> str:
        with only_errors():
            return os.environ["SPARK_SUBMIT_OPTS"]

    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Da=b")
    assert re.fullmatch(r'-Da=b "-Dlog4j2.configurationFile=file:/.*/log4j2.properties"', options())
    assert os.environ["SPARK_SUBMIT_OPTS"] == "-Da=b"
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "log4j2.properties.template").write_text("rootLogger.level = info\n")
    assert "log4j2" in options()
    for suffix in ("properties", "xml", "yaml"):
        configuration = tmp_path / f"log4j2.{suffix}"
        configuration.touch()
        assert options() == "-Da=b"
        configuration.unlink()
    monkeypatch.delenv("SPARK_CONF_DIR")
    for name in ("log4j2", "log4j"):
        monkeypatch.setenv("SPARK_SUBMIT_OPTS", f"-D{name}.configurationFile=mine.xml")
        assert options() == f"-D{name}.configurationFile=mine.xml"
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dlog4j2.formatMsgNoLookups=true")
    assert options().startswith('-Dlog4j2.formatMsgNoLookups=true "-Dlog4j2.configurationFile=file:/')


def test_without_the_extra_a_message_says_what_to_install() -> None:
    script = "import sys; sys.modules['typer'] = None; from pyspark_iceberg.cli import main; main()"
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert completed.returncode == 1
    assert completed.stderr == "The command line requires typer: pip install 'pyspark-iceberg[cli]'\n"


def test_catalogs_of_pyiceberg_are_read_from_its_file_and_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(
        "default-catalog: work\n"
        "catalog:\n"
        "  work:\n"
        "    uri: postgresql+psycopg2://me:p%40ss@db:5433/catalog\n"
        "    warehouse: s3://lake/tables\n"
        "    s3.region: eu-west-1\n"
        "  web:\n"
        "    uri: https://catalog.example.com\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    work = catalog_settings()
    assert (work.name, work.type) == ("work", "jdbc")
    assert work.for_spark() == {
        "type": "jdbc",
        "uri": "jdbc:postgresql://db:5433/catalog",
        "jdbc.user": "me",
        "jdbc.password": "p@ss",
        "warehouse": "s3://lake/tables",
        "client.region": "eu-west-1",
    }
    monkeypatch.setenv("PYICEBERG_CATALOG__WEB__TOKEN", "secret")
    web = catalog_settings("web", properties={"warehouse": "main"})
    assert web.for_spark() == {
        "type": "rest",
        "uri": "https://catalog.example.com",
        "token": "secret",
        "warehouse": "main",
    }
    assert web.for_pyiceberg()["type"] == "rest"
    monkeypatch.setenv("ICEBERG_LITE_CATALOG", "web")
    assert catalog_settings().name == "web"


@pytest.mark.parametrize(
    ("file", "variable", "arguments", "message"),
    [
        (CONFIGURED, "", ("--catalog", "prdo", "sql", "SELECT 1"), "has no catalog prdo"),
        (CONFIGURED, "prdo", ("sql", "SELECT 1"), "has no catalog prdo"),
        (CONFIGURED, "prdo", ("doctor", "./db/t"), "has no catalog prdo"),
        (CONFIGURED, "", ("shell",), "Specify the location"),
        (CONFIGURED, "", ("--catalog", "c", "--property", "a=b", "doctor", "./db/t"), "Specify the location"),
        ("catalog: [", "", ("import", "./files/", "db.t"), "Cannot read the configuration file"),
        ("catalog: [", "", ("doctor", "./db/t"), "Cannot read the configuration file"),
    ],
)
def test_a_command_fails_before_spark_starts_if_its_catalog_is_not_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    variable: str,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(file, encoding="utf-8")
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.setenv("ICEBERG_LITE_CATALOG", variable)
    monkeypatch.setattr("pyspark_iceberg.session.iceberg_session", lambda *_, **__: pytest.fail("starts Spark"))
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 1, result.output
    assert message in result.output


def test_a_path_needs_no_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(CONFIGURED, encoding="utf-8")
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.delenv("ICEBERG_LITE_CATALOG", raising=False)
    assert Catalog(None, None, None, None, {}, {})._settings(needs_catalog=False) is None


@pytest.mark.parametrize(
    ("jdbc", "sqlalchemy"),
    [
        ("jdbc:sqlite:/data/catalog.db", "sqlite:////data/catalog.db"),
        ("jdbc:postgresql://db/catalog?user=me&password=a%2Fb", "postgresql+psycopg2://me:a%2Fb@db/catalog"),
    ],
)
def test_the_uri_of_a_database_is_converted_for_pyiceberg(jdbc: str, sqlalchemy: str) -> None:
    settings = CatalogSettings("lite", "jdbc", {"uri": jdbc, "warehouse": "/tables"})
    assert settings.for_pyiceberg()["uri"] == sqlalchemy
