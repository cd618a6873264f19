"""The names of the package are imported on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyspark_iceberg


def test_every_exported_name_is_found_in_its_module() -> None:
    names = [name for name in pyspark_iceberg.__all__ if name != "__version__"]
    assert list(pyspark_iceberg._MODULES) == sorted(names)
    for name in names:
        assert getattr(pyspark_iceberg, name).__name__ == name
    assert set(pyspark_iceberg.__all__) <= set(dir(pyspark_iceberg))
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        _ = pyspark_iceberg.missing


def test_the_import_of_the_package_does_not_import_pyspark() -> None:
    script = "import sys, pyspark_iceberg; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
