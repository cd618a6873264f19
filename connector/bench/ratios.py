"""Print JMH results as a table: each `xLite` next to its `xPeer`, with errors (99.9 %) and bytes per operation.

Usage: ratios.py results.json
"""

import json
import sys
from pathlib import Path
from typing import Any

LITE, PEER = "Lite", "Peer"


def load_results(path: Path) -> dict[str, dict[str, Any]]:
    """Return the results by class and method of the benchmark."""
    results: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {".".join(r["benchmark"].rsplit(".", 2)[-2:]): r for r in results}


def mean_with_error(result: dict[str, Any]) -> str:
    """Return the mean with its error."""
    primary = result["primaryMetric"]
    return f"{primary['score']:,.1f} ± {float(primary['scoreError']):,.1f}"


def bytes_per_operation(result: dict[str, Any]) -> str:
    """Return the bytes per operation; empty if the run had no `-prof gc`."""
    rates: dict[str, Any] = result["secondaryMetrics"]
    found = [v for k, v in rates.items() if k.endswith("gc.alloc.rate.norm")]
    return f"{found[0]['score']:,.0f}" if found else ""


def main(path: Path) -> None:
    """Print a row for each pair."""
    results = load_results(path)
    print("| benchmark | iceberg-lite | Apache Iceberg | unit | ratio of times | B/op here | B/op there |")
    print("|---|---|---|---|---|---|---|")
    for name, lite in sorted(results.items()):
        peer = results.get(name.removesuffix(LITE) + PEER)
        if not name.endswith(LITE) or peer is None:
            continue
        ratio = lite["primaryMetric"]["score"] / peer["primaryMetric"]["score"]
        unit = lite["primaryMetric"]["scoreUnit"]
        cells = [
            name.removesuffix(LITE),
            mean_with_error(lite),
            mean_with_error(peer),
            unit,
            f"{ratio:.2f}",
            bytes_per_operation(lite),
            bytes_per_operation(peer),
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
