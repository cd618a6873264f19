"""Start the services of docker-compose.yml without containers, from the same settings, until interrupted."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import signal
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyspark

from servers.kinds import KINDS, Facts, postgres_database
from servers.process import HOST, ROOT, answers, free_port, running

Settings = dict[str, str]


def settings(path: Path) -> Settings:
    """Read a file of KEY=value lines; environment variables take precedence."""
    lines = [line.split("=", 1) for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {key: os.environ.get(key, value) for key, value in lines}


@contextlib.contextmanager
def spark(directory: Path, wanted: Settings) -> Iterator[str]:
    """Run a Spark master and its workers."""
    home = Path(pyspark.__file__).parent
    environment = {"SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(directory / "work")}
    start = [str(home / "bin" / "spark-class")]
    port, ui = int(wanted["SPARK_MASTER_PORT"]), wanted["SPARK_UI_PORT"]
    url = f"spark://{HOST}:{port}"
    with contextlib.ExitStack() as stack:
        master = [*start, "org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port)]
        ready = functools.partial(answers, port)
        stack.enter_context(running([*master, "--webui-port", ui], directory / "master.log", ready, environment))
        for number in range(int(wanted["SPARK_WORKERS"])):
            worker_port = free_port()
            worker = [*start, "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--port", str(worker_port)]
            worker += ["--webui-port", "0", "--cores", "1", "--memory", "1g", url]
            log = directory / f"worker-{number}.log"
            stack.enter_context(running(worker, log, functools.partial(answers, worker_port), environment))
        yield url


@contextlib.contextmanager
def stack(directory: Path, wanted: Settings) -> Iterator[dict[str, Facts]]:
    """Run the whole stack. Tables and logs are in `directory`."""
    # Some servers run as another user, who must have access to this directory.
    directory.chmod(0o755)
    started: dict[str, Facts] = {}
    with contextlib.ExitStack() as servers:
        for kind, run in KINDS.items():
            home = directory / kind
            home.mkdir(parents=True, exist_ok=True)
            home.chmod(0o755)
            started[kind] = servers.enter_context(run(home, int(wanted[f"{kind.upper()}_PORT"])))
        postgres_database(started["postgres"], "catalog", wanted["POSTGRES_USER"], wanted["POSTGRES_PASSWORD"])
        started["postgres"] = {"url": f"jdbc:postgresql://{HOST}:{wanted['POSTGRES_PORT']}/catalog"}
        bucket = urllib.request.Request(f"{started['s3']['endpoint']}/{wanted['S3_BUCKET']}", method="PUT")
        urllib.request.urlopen(bucket, timeout=10).close()
        started["spark"] = {"url": servers.enter_context(spark(directory, wanted))}
        yield started


def main() -> None:
    """Start the stack, print its addresses, and wait."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=ROOT / "stack.env")
    parser.add_argument("--directory", type=Path, default=ROOT / "stack")
    asked = parser.parse_args()
    asked.directory.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with stack(asked.directory.resolve(), settings(asked.settings)) as started:
        for kind, facts in started.items():
            print(f"{kind:10}{facts.get('uri') or facts.get('url') or facts.get('endpoint')}")
        print(
            f"Logs and tables are in {asked.directory}; stack.conf has Spark's settings. Ctrl-C stops all", flush=True
        )
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
