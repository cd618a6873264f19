"""The models of the commit protocol have no errors, and each incorrect variant is refuted: see tests/model."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def load() -> ModuleType:
    """Load tests/model/check.py, which is a script outside any package."""
    spec = importlib.util.spec_from_file_location("model_check", ROOT / "tests" / "model" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["model_check"] = module
    spec.loader.exec_module(module)
    return module


model_check = load()


@pytest.fixture
def spin() -> Path:
    """Return the model checker.

    If the model checker or a C compiler is missing, the test is skipped, except in `make test-all`, where it fails.
    """
    try:
        checker = model_check.find_spin()
        model_check.find_compiler()
    except model_check.MissingToolError as missing:
        if os.environ.get("ICEBERG_LITE_TIER") == "all":
            raise
        pytest.skip(str(missing))
    assert isinstance(checker, Path)
    return checker


@pytest.mark.parametrize("model", sorted(model_check.MODELS))
def test_there_are_no_lost_updates_and_no_dirty_reads(spin: Path, model: str) -> None:
    verdict = model_check.check(spin, model)
    assert verdict.holds, verdict.report
    assert verdict.states > 100_000, "the model has too few states to be a useful check"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "variant"), [(m, v) for m, variants in sorted(model_check.MODELS.items()) for v in variants]
)
def test_an_incorrect_protocol_is_refuted(spin: Path, model: str, variant: str) -> None:
    assert f"def {variant}\n" in (model_check.FOLDER / f"{model}.pml").read_text()
    assert not model_check.check(spin, model, variant).holds


def test_a_missing_tool_is_reported_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(model_check, "INSTALLED", tmp_path / "spin")
    with pytest.raises(model_check.MissingToolError, match="make model"):
        model_check.find_spin()
    with pytest.raises(model_check.MissingToolError, match="C compiler"):
        model_check.check(tmp_path / "spin", "pointer")
