"""Context managers that run a server of one kind and yield its connection properties (`Facts`)."""

from __future__ import annotations

import contextlib
import functools
import lzma
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Optional

from servers.process import HOST, answers, free_port, jars, running

Facts = dict[str, str]
Kind = Callable[[Path, Optional[int]], AbstractContextManager[Facts]]

# Options for servers in Java. Most of their code runs only a few times, so they are faster without the optimizing
# compiler (C2).
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# The superuser of the test servers.
USER, PASSWORD = "owner", "s3cret-of-the-tests"
ACCESS_KEY, SECRET_KEY = "AKIATESTS", "s3cret-of-the-tests"


@contextlib.contextmanager
def rest(directory: Path, port: int | None) -> Iterator[Facts]:
    """Run the REST catalog server of Apache Iceberg's own tests; tables are files below `directory`."""
    port = port or free_port()
    warehouse = f"file://{directory}/warehouse"
    settings = {
        "CATALOG_URI": f"jdbc:sqlite:{directory}/catalog.db?busy_timeout=60000",
        "CATALOG_WAREHOUSE": warehouse,
        "CATALOG_IO__IMPL": "org.apache.iceberg.hadoop.HadoopFileIO",
        "CATALOG_JDBC_STRICT__MODE": "true",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "REST_PORT": str(port),
        "CATALOG_REST_PORT": str(port),
    }
    uri = f"http://{HOST}:{port}"
    command = [
        "java",
        "-Xmx512m",
        *QUICK_START,
        "-cp",
        ":".join(jars("rest")),
        "org.apache.iceberg.rest.RESTCatalogServer",
    ]
    with running(command, directory / "rest.log", functools.partial(_config_answers, uri), settings):
        yield {"uri": uri, "warehouse": warehouse}


def _config_answers(uri: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{uri}/v1/config", timeout=2) as answer:
        return bool(answer.status == 200)
    return False


@contextlib.contextmanager
def hive(directory: Path, port: int | None) -> Iterator[Facts]:
    """Run a Hive Metastore with the Hive classes in Spark's distribution, on an in-memory database."""
    port = port or free_port()
    warehouse = f"file://{directory}/warehouse"
    properties = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:hms;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": warehouse,
        # The lock of a dead writer expires after this time. The Scala tests wait for that. On a busy machine, they hold
        # locks without heartbeats for up to two seconds, and PyIceberg, which sends no heartbeats, for longer.
        "hive.txn.timeout": os.environ.get("ICEBERG_LITE_HIVE_LOCK", "5s"),
        # Tests keep files in memory (`mem:`). The server creates directories of tables in a local directory instead.
        "fs.mem.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        "fs.viewfs.overload.scheme.target.mem.impl": "org.apache.hadoop.fs.LocalFileSystem",
        "fs.viewfs.mounttable.wh.linkFallback": f"file://{directory}/memory",
    }
    rows = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in properties.items())
    (directory / "hive-site.xml").write_text(f"<configuration>{rows}</configuration>")
    import pyspark

    spark = Path(pyspark.__file__).parent / "jars" / "*"
    opened = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.lang", "java.net")]
    command = ["java", "-Xmx512m", *QUICK_START, *opened, "-cp", ":".join([str(directory), *jars("hive"), str(spark)])]
    command += [f"-Dhive.log.dir={directory}", str(Path(__file__).parent / "HiveMetastore.java"), "-p", str(port)]
    with running(command, directory / "hive.log", functools.partial(answers, port)):
        yield {"uri": f"thrift://{HOST}:{port}", "warehouse": warehouse}


@contextlib.contextmanager
def postgres(directory: Path, port: int | None) -> Iterator[Facts]:
    """Run PostgreSQL with a user that can create databases. PostgreSQL rejects root, so as root it runs as `nobody`."""
    port = port or free_port()
    user = "nobody" if os.geteuid() == 0 else None
    home, data, secret = directory / "postgres", directory / "data", directory / "password"
    for old in (home, data):
        shutil.rmtree(old, ignore_errors=True)
    with zipfile.ZipFile(jars("postgres")[0]) as jar:
        name = next(n for n in jar.namelist() if n.endswith(".txz"))
        with jar.open(name) as packed, lzma.open(packed) as tar, tarfile.open(fileobj=tar) as archive:
            archive.extractall(home, filter="fully_trusted")
    secret.write_text(PASSWORD)
    data.mkdir()
    if user:
        nobody = pwd.getpwnam(user)
        for owned in (directory, data, secret):
            os.chown(owned, nobody.pw_uid, nobody.pw_gid)
    options = ["-U", USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--locale=C", "--no-sync"]
    made = subprocess.run(
        [str(home / "bin" / "initdb"), "-D", str(data), *options],
        user=user,
        cwd=directory,
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise SystemExit(f"initdb failed:\n{made.stdout}{made.stderr}")
    command = [str(home / "bin" / "postgres"), "-D", str(data), "-p", str(port), "-c", f"listen_addresses={HOST}"]
    command += ["-c", f"unix_socket_directories={directory}", "-c", "max_connections=200"]
    # The data need not survive a crash, so nothing is synced to the disk.
    command += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    log = directory / "postgres.log"
    with running(command, log, functools.partial(_accepts, log), user=user, stop=signal.SIGINT):
        yield {
            "url": f"jdbc:postgresql://{HOST}:{port}/postgres",
            "host": HOST,
            "port": str(port),
            "user": USER,
            "password": PASSWORD,
        }


def postgres_database(server: Facts, name: str, user: str, password: str) -> None:
    """Create a database and its owner."""
    # Imported here because only this function needs it.
    import psycopg2
    from psycopg2 import sql

    connection = psycopg2.connect(
        host=server["host"], port=server["port"], user=server["user"], password=server["password"], dbname="postgres"
    )
    connection.autocommit = True
    with contextlib.closing(connection), connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE USER {} PASSWORD {}").format(sql.Identifier(user), sql.Literal(password)))
        cursor.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(user)))


def _accepts(log: Path) -> bool:
    """Return whether PostgreSQL is ready. Its port is open earlier, while the database system is starting up."""
    return "ready to accept connections" in log.read_text(errors="replace")


@contextlib.contextmanager
def s3(directory: Path, port: int | None) -> Iterator[Facts]:
    """Run an S3 store in memory."""
    port = port or free_port()
    command = [sys.executable, str(Path(__file__).with_name("store.py")), HOST, str(port)]
    with running(command, directory / "s3.log", functools.partial(answers, port)):
        yield {"endpoint": f"http://{HOST}:{port}", "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}


KINDS: dict[str, Kind] = {"rest": rest, "hive": hive, "postgres": postgres, "s3": s3}
