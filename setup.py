"""Check that a wheel contains the connector's jars, and add the project's addresses from project/release.properties.

All other settings of the package are in pyproject.toml.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent


class WheelWithJars(bdist_wheel):
    """Build the wheel, or fail if it would lack a jar that it needs.

    This check does not apply to an editable installation, which uses the jar in the source tree once it is built.
    """

    def run(self) -> None:
        """Build the wheel.

        Raises:
            SystemExit: a jar is missing from the package.
        """
        version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
        jars = ROOT / "pyspark_iceberg" / "jars"
        wanted = (f"iceberg-lite-spark-3.5_2.12-{version}.jar", "sqlite-jdbc-*.jar")
        missing = [name for name in wanted if not list(jars.glob(name))]
        if missing:
            raise SystemExit(
                f"Cannot build the wheel: {', '.join(missing)} not found in {jars}. "
                "Run `make wheel` in the source tree, which builds the jars first (`make jar` builds only the jars)"
            )
        super().run()


def project_urls() -> dict[str, str]:
    """Return the addresses of the project that have a value in the settings for releases."""
    settings = ROOT / "project" / "release.properties"
    lines = settings.read_text(encoding="utf-8").splitlines() if settings.exists() else []
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    names = {"homepage": "Homepage", "source": "Source", "issues": "Issues"}
    return {name: values[key] for key, name in names.items() if values.get(key)}


setup(cmdclass={"bdist_wheel": WheelWithJars}, project_urls=project_urls())
