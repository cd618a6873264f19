"""Missing prerequisites are each reported in one line, with what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def check(tmp_path: Path, tools: dict[str, str], python: str = "python3") -> list[str]:
    """Run the check with only some tools on the PATH; return the lines that it prints."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    for name in ("sed", "head", "bash"):
        source = next(p for d in ("/usr/bin", "/bin") if (p := Path(d) / name).exists())
        (bin_dir / name).symlink_to(source)
    for name, script in tools.items():
        (bin_dir / name).write_text(f"#!/bin/bash\n{script}\n")
        (bin_dir / name).chmod(0o755)
    env = {"PATH": str(bin_dir), "PYTHON": python, "LAUNCHER": str(tmp_path / "launcher.jar")}
    completed = subprocess.run(
        ["bash", str(ROOT / "project" / "prerequisites.sh")], env=env, capture_output=True, text=True, check=False
    )
    assert (completed.returncode == 0) == (completed.stderr == "")
    return completed.stderr.splitlines()


JAVA_17 = "echo 'openjdk version \"17.0.15\" 2025-04-15' >&2"
JAVA_21 = "echo 'openjdk version \"21.0.2\" 2024-01-16' >&2"
JAVA_8 = "echo 'openjdk version \"1.8.0_402\"' >&2"
PYTHON = f'exec {sys.executable} "$@"'


def test_nothing_is_printed_if_all_prerequisites_are_installed(tmp_path: Path) -> None:
    assert check(tmp_path, {"java": JAVA_17, "mvn": "", "python3": PYTHON}) == []


def test_each_missing_prerequisite_gives_one_line(tmp_path: Path) -> None:
    lines = check(tmp_path, {})
    assert len(lines) == 3
    assert "JDK 17" in lines[0]
    assert "Maven" in lines[1]
    assert "Python 3.9 to 3.12" in lines[2]


@pytest.mark.parametrize(("java", "version"), [(JAVA_8, "1"), (JAVA_21, "21")])
def test_a_java_that_sessions_do_not_accept_is_reported(tmp_path: Path, java: str, version: str) -> None:
    (line,) = check(tmp_path, {"java": java, "mvn": "", "python3": PYTHON})
    assert f"java on the PATH is version {version}." in line


def test_an_unsupported_python_is_reported_with_how_to_select_another(tmp_path: Path) -> None:
    (line,) = check(tmp_path, {"java": JAVA_17, "mvn": "", "python3": 'echo "Python 3.13.0"; exit 1'})
    assert "make PYTHON=" in line
