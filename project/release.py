"""Collect the artefacts of a release in dist/, check them in a clean environment, and write their checksums.

The artefacts are the connector's jars for Scala 2.12 and 2.13, with their POMs, sources and documentation, and the
Python wheel, which contains the jar for Scala 2.12. Nothing is uploaded: RELEASING.md describes the next steps.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import tempfile
import venv
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pyspark

ROOT = Path(__file__).resolve().parent.parent
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
GROUP, MODULE = "io.github.iceberg-lite", "iceberg-lite-spark-3.5_2.12"
MODULES = (MODULE, "iceberg-lite-spark-3.5_2.13")
#: A program that needs the wheel and PySpark only.
PROGRAM = """
from pyspark_iceberg import __version__, iceberg_session
spark = iceberg_session(warehouse="warehouse")
spark.range(3).writeTo("db.numbers").create()
assert spark.table("db.numbers").count() == 3
spark.stop()
print("iceberg-lite", __version__)
"""
#: Statements that need the catalog and the SQL extensions.
STATEMENTS = (
    "CREATE TABLE lite.db.t (id INT, name STRING) USING iceberg; INSERT INTO lite.db.t VALUES (7, 'release'), (8, 'x');"
    "DELETE FROM lite.db.t WHERE id = 8; CALL lite.system.rewrite_data_files('db.t'); SELECT * FROM lite.db.t"
)


def main() -> None:
    """Copy the modules to dist/, check the modules and the wheel, and write the checksums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--maven", type=Path, help="the Maven repository with the published modules; with --wheel")
    parser.add_argument("--wheel", type=Path, help="the wheel, in dist/; without it, only the sources are checked")
    options = parser.parse_args()
    if (options.maven is None) != (options.wheel is None):
        parser.error("--maven and --wheel must be given together")
    require_settings(ROOT / "project" / "release.properties")
    require_changelog(ROOT / "CHANGELOG.md")
    require_version(ROOT / "pyspark_iceberg" / "__init__.py")
    if options.wheel is None:
        return
    dist = ROOT / "dist"
    artefacts = [copied(path, dist) for module in MODULES for path in module_files(options.maven, module)]
    for jar in (path for path in artefacts if path.suffix == ".jar"):
        require_licence(jar)
    require_working_wheel(options.wheel)
    require_working_module(options.maven)
    write_checksums([*artefacts, options.wheel], dist / "SHA256SUMS")
    print(f"The artefacts of {VERSION} are in {dist.relative_to(ROOT)}/. RELEASING.md describes how to publish them")


def require_settings(path: Path) -> None:
    """Fail if the project's settings for releases are incomplete.

    Raises:
        SystemExit: a setting has no value.
    """
    lines = [line.partition("=") for line in path.read_text(encoding="utf-8").splitlines() if "=" in line]
    empty = [key.strip() for key, _, value in lines if not value.strip()]
    if empty:
        raise SystemExit(f"Set {', '.join(empty)} in {path.name}: the published POM and the wheel contain them")


def require_changelog(path: Path) -> None:
    """Fail if the changelog does not describe this version as released.

    Raises:
        SystemExit: the changelog has no section with the version and a date.
    """
    if not any(line.startswith(f"## [{VERSION}] - 2") for line in path.read_text(encoding="utf-8").splitlines()):
        raise SystemExit(f"{path.name} has no section '## [{VERSION}] - YYYY-MM-DD': write the date of the release")


def require_version(module: Path) -> None:
    """Fail if the Python package has another version than the file VERSION.

    Raises:
        SystemExit: the versions differ.
    """
    if f'__version__ = "{VERSION}"' not in module.read_text(encoding="utf-8").splitlines():
        raise SystemExit(f"__version__ in {module.parent.name}/{module.name} is not {VERSION}, the version in VERSION")


def module_files(maven: Path, module: str) -> list[Path]:
    """Return the files of a module in a Maven repository: the jar, its sources, its documentation and its POM.

    Raises:
        SystemExit: a file is missing, or the POM is incomplete.
    """
    folder = maven / Path(*GROUP.split(".")) / module / VERSION
    files = [folder / f"{module}-{VERSION}{ending}" for ending in (".jar", "-sources.jar", "-javadoc.jar", ".pom")]
    missing = [path.name for path in files if not path.exists()]
    if missing:
        raise SystemExit(f"{', '.join(missing)} not found in {folder}: run make release")
    pom = ElementTree.parse(files[-1]).getroot()
    name = "{http://maven.apache.org/POM/4.0.0}"
    absent = [part for part in ("licenses", "scm", "developers", "url") if pom.find(f"{name}{part}") is None]
    if absent:
        raise SystemExit(f"{files[-1].name} has no {', '.join(absent)}")
    return files


def copied(path: Path, folder: Path) -> Path:
    """Copy a file to a folder."""
    folder.mkdir(exist_ok=True)
    return Path(shutil.copy(path, folder))


def require_licence(jar: Path) -> None:
    """Fail if a jar lacks the licence or the notice.

    Raises:
        SystemExit: a file is missing.
    """
    names = set(zipfile.ZipFile(jar).namelist())
    missing = {"META-INF/LICENSE", "META-INF/NOTICE"} - names
    if missing:
        raise SystemExit(f"{jar.name} has no {', '.join(sorted(missing))}")


def require_working_wheel(wheel: Path) -> None:
    """Install the wheel with its dependencies in a new environment, and run a short Python program.

    Raises:
        subprocess.CalledProcessError: the installation or the program failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        python = Path(folder) / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        subprocess.run([python, "-c", PROGRAM], cwd=folder, check=True)


def require_working_module(maven: Path) -> None:
    """Create, change and read a table in spark-sql with the module of a Maven repository, without any other jar.

    Raises:
        SystemExit: spark-sql failed, or the table has other rows than were written.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = spark_sql(maven, Path(folder), STATEMENTS)
        completed = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if completed.returncode != 0 or "7\trelease" not in completed.stdout.splitlines():
        raise SystemExit(f"spark-sql does not work with {MODULE} in {maven}; it returned:\n{completed.stdout}")


def spark_sql(maven: Path, folder: Path, statement: str) -> list[str]:
    """Return a command that runs a statement with the module of a Maven repository.

    Args:
        maven: the repository.
        folder: an empty folder for the cache of jars and the tables of the catalog `lite`.
        statement: the statement.
    """
    catalog = "spark.sql.catalog.lite"
    settings = {
        "spark.jars.ivy": folder / "ivy",
        "spark.sql.extensions": "iceberglite.spark.SparkSessionExtensions",
        catalog: "iceberglite.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": folder / "warehouse",
    }
    home = Path(pyspark.__file__).parent
    confs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    packages = ["--packages", f"{GROUP}:{MODULE}:{VERSION}", "--repositories", maven.absolute().as_uri()]
    return ["env", f"SPARK_HOME={home}", str(home / "bin" / "spark-sql"), *packages, *confs, "-e", statement]


def write_checksums(files: list[Path], target: Path) -> None:
    """Write the SHA-256 checksums of files in the format of sha256sum."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(files)]
    target.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
