"""Print JMH results as a table that compares iceberg-lite with Apache Iceberg.

Each row compares a benchmark `xLite` with the benchmark `xPeer`. It has the mean times with their errors (99.9 %
confidence) and the allocated bytes per operation.

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
    """Return the mean time with its error."""
    primary = result["primaryMetric"]
    return f"{primary['score']:,.1f} ± {float(primary['scoreError']):,.1f}"


def bytes_per_operation(result: dict[str, Any]) -> str:
    """Return the allocated bytes per operation; empty if the benchmark ran without `-prof gc`."""
    metrics: dict[str, Any] = result["secondaryMetrics"]
    rates = [v for k, v in metrics.items() if k.endswith("gc.alloc.rate.norm")]
    return f"{rates[0]['score']:,.0f}" if rates else ""


def main(path: Path) -> None:
    """Print a row for each pair of benchmarks."""
    results = load_results(path)
    print("| benchmark | iceberg-lite | Apache Iceberg | unit | ratio | B/op iceberg-lite | B/op Apache Iceberg |")
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
