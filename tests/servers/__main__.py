"""Run one server until the standard input of this program ends, which happens if the calling process ends.

python -m servers rest --directory /tmp/rest [--port 8181]: prints one line of JSON when the server is ready.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from servers.kinds import KINDS


def main() -> None:
    """Start the server, print its address, and wait."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=sorted(KINDS))
    parser.add_argument(
        "--directory", type=Path, help="directory for the server's files; by default a temporary directory"
    )
    parser.add_argument("--port", type=int, help="port of the server; by default a free port")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"iceberg-{options.server}-", ignore_cleanup_errors=True) as temporary:
        directory = (options.directory or Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        # Some servers run as another user, who must have access to this directory.
        directory.chmod(0o755)
        with KINDS[options.server](directory, options.port) as facts:
            print(json.dumps(facts), flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
