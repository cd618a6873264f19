"""Spark loads the published module by its Maven coordinates, and an incomplete release fails."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MAVEN = ROOT / "build" / "maven"


@pytest.mark.slow
def test_spark_sql_loads_the_module_by_its_coordinates(release: ModuleType) -> None:
    release.require_working_module(MAVEN)


def test_a_module_whose_rows_cannot_be_read_is_not_released(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (["echo", "7\trelease\t"], ["sh", "-c", "printf '7\\trelease\\n'; exit 1"]):
        monkeypatch.setattr(release, "spark_sql", lambda *_, found=command: found)
        with pytest.raises(SystemExit, match="spark-sql does not work with"):
            release.require_working_module(tmp_path)
    monkeypatch.setattr(release, "spark_sql", lambda *_: ["printf", r"one\n7\trelease\n"])
    release.require_working_module(tmp_path)


def test_the_published_jars_contain_licence_and_notice(release: ModuleType) -> None:
    folder = MAVEN / Path(*release.GROUP.split(".")) / release.MODULE / release.VERSION
    jars = sorted(path for path in folder.glob("*.jar"))
    endings = {path.name.removeprefix(f"{release.MODULE}-{release.VERSION}") for path in jars}
    assert endings - {"-javadoc.jar"} == {".jar", "-sources.jar"}
    for jar in jars:
        if not jar.name.endswith("-javadoc.jar"):
            release.require_licence(jar)
    sources = next(path for path in jars if path.name.endswith("-sources.jar"))
    assert "iceberglite/spark/IcebergTable.scala" in zipfile.ZipFile(sources).namelist()


def test_a_release_without_the_jar_for_each_scala_version_fails(release: ModuleType, tmp_path: Path) -> None:
    for module in release.MODULES:
        with pytest.raises(SystemExit, match=rf"{module}-{release.VERSION}\.jar.* not found in .*: run make release"):
            release.module_files(tmp_path, module)
    assert {module.rpartition("_")[2] for module in release.MODULES} == {"2.12", "2.13"}


def test_a_release_without_a_required_setting_fails(release: ModuleType, tmp_path: Path) -> None:
    settings = tmp_path / "release.properties"
    settings.write_text("# comment\nhomepage = x\nsource =\ndeveloper.name =\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"Set source, developer\.name in release\.properties"):
        release.require_settings(settings)
    settings.write_text("homepage = x\n", encoding="utf-8")
    release.require_settings(settings)


def test_a_release_without_a_date_in_the_changelog_fails(release: ModuleType, tmp_path: Path) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"## [{release.VERSION}] - unreleased\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="write the date of the release"):
        release.require_changelog(changelog)
    changelog.write_text(f"## [{release.VERSION}] - 2026-12-01\n", encoding="utf-8")
    release.require_changelog(changelog)


def test_a_release_whose_python_package_has_another_version_fails(release: ModuleType, tmp_path: Path) -> None:
    module = tmp_path / "__init__.py"
    module.write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=rf"__init__\.py is not {re.escape(release.VERSION)}"):
        release.require_version(module)
    release.require_version(ROOT / "pyspark_iceberg" / "__init__.py")


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions
    form = re.compile(r"## \[Unreleased\]|## \[\d+\.\d+\.\d+\] - (unreleased|\d{4}-\d\d-\d\d)")
    assert [line for line in versions if not form.fullmatch(line)] == []
    groups = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {line.removeprefix("### ") for line in lines if line.startswith("### ")} <= groups


def test_the_sources_are_checked_before_anything_is_built(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["release.py"])
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "release.properties").write_text("homepage =\nsource = x\n", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(f"## [{release.VERSION}] - unreleased\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^Set homepage in release\.properties"):
        release.main()
    (tmp_path / "project" / "release.properties").write_text("homepage = x\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="write the date of the release"):
        release.main()
    (tmp_path / "CHANGELOG.md").write_text(f"## [{release.VERSION}] - 2026-12-01\n", encoding="utf-8")
    module = tmp_path / "pyspark_iceberg" / "__init__.py"
    module.parent.mkdir()
    module.write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    with pytest.raises(SystemExit, match="__version__ in pyspark_iceberg"):
        release.main()
    shutil.copy(ROOT / "pyspark_iceberg" / "__init__.py", module)
    release.main()
    assert not (tmp_path / "dist").exists()


def test_make_release_checks_the_sources_first() -> None:
    command = ["make", "--no-print-directory", "-n", "release"]
    steps = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    first = next(number for number, step in enumerate(steps) if step.endswith("project/release.py"))
    assert first < next(number for number, step in enumerate(steps) if "+artifact/publish" in step)


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><url>u</url><licenses/><scm/><developers/></project>"""


def test_a_release_collects_and_checks_its_artefacts(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel and the module are not tested, only recorded: other tests install a wheel and load the module."""
    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "project").mkdir()
    settings = (ROOT / "project" / "release.properties").read_text(encoding="utf-8")
    (tmp_path / "project" / "release.properties").write_text(re.sub(r"=$", "= x", settings, flags=re.M))
    (tmp_path / "CHANGELOG.md").write_text(f"## [{release.VERSION}] - 2026-12-01\n", encoding="utf-8")
    (tmp_path / "pyspark_iceberg").mkdir()
    shutil.copy(ROOT / "pyspark_iceberg" / "__init__.py", tmp_path / "pyspark_iceberg" / "__init__.py")
    (tmp_path / "dist").mkdir()
    wheel = tmp_path / "dist" / "package.whl"
    wheel.write_bytes(b"wheel")
    poms = []
    for module in release.MODULES:
        folder = tmp_path / "maven" / Path(*release.GROUP.split(".")) / module / release.VERSION
        folder.mkdir(parents=True)
        poms.append(folder / f"{module}-{release.VERSION}.pom")
        for ending in (".jar", "-sources.jar", "-javadoc.jar"):
            with zipfile.ZipFile(folder / f"{module}-{release.VERSION}{ending}", "w") as jar:
                for entry in ("META-INF/LICENSE", "META-INF/NOTICE"):
                    jar.writestr(entry, "text")
    checked: list[object] = []
    monkeypatch.setattr(release, "require_working_wheel", checked.append)
    monkeypatch.setattr(release, "require_working_module", checked.append)
    monkeypatch.setattr("sys.argv", ["release.py", "--maven", str(tmp_path / "maven"), "--wheel", str(wheel)])
    with pytest.raises(SystemExit, match=r"\.pom not found"):
        release.main()
    for pom in poms:
        pom.write_text(POM.replace("<scm/>", ""), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"\.pom has no scm"):
        release.main()
    assert checked == []
    for pom in poms:
        pom.write_text(POM, encoding="utf-8")
    release.main()
    assert checked == [wheel, tmp_path / "maven"]
    sums = (tmp_path / "dist" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {line.split("  ")[1]: line.split("  ")[0] for line in sums}
    endings = (".jar", "-sources.jar", "-javadoc.jar", ".pom")
    assert set(listed) == {wheel.name, *(f"{m}-{release.VERSION}{e}" for m in release.MODULES for e in endings)}
    for file, checksum in listed.items():
        assert hashlib.sha256((tmp_path / "dist" / file).read_bytes()).hexdigest() == checksum


def test_checksums_have_the_format_of_sha256sum(release: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"content")
    release.write_checksums([tmp_path / "a.jar"], tmp_path / "SHA256SUMS")
    expected = f"{hashlib.sha256(b'content').hexdigest()}  a.jar\n"
    assert (tmp_path / "SHA256SUMS").read_text(encoding="utf-8") == expected
