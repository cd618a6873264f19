"""Check the models of the commit protocol with spin: the protocol is correct, and every incorrect variant is refuted.

Usage: check.py [SPIN], where SPIN is the path of the program `spin`. `make model` installs it and runs this check.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent

#: Where `make` installs spin if it is not on the PATH.
INSTALLED = ROOT / ".tools" / "spin" / "usr" / "bin" / "spin"

#: Each model, with its incorrect variants.
MODELS: dict[str, tuple[str, ...]] = {
    "pointer": ("BLIND_SWAP", "CLEANS_UP_UNKNOWN", "RETRIES_UNSEEN", "POINTS_FIRST"),
    "files": ("REPLACES", "CLEANS_UP_UNKNOWN", "RETRIES_UNSEEN", "TRUSTS_HINT"),
}


class MissingToolError(RuntimeError):
    """A program that the check needs is missing."""


@dataclass(frozen=True)
class Verdict:
    """The result of checking a model."""

    holds: bool
    states: int
    report: str


def find_spin() -> Path:
    """Return the path of the program spin, on the PATH or where `make` installs it."""
    on_path = shutil.which("spin")
    if on_path:
        return Path(on_path)
    if INSTALLED.is_file():
        return INSTALLED
    raise MissingToolError("The model checker spin is not installed. Run `make model` to download it")


def find_compiler() -> str:
    """Return the C compiler, which compiles the program that spin generates."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise MissingToolError("The model checker spin needs a C compiler. Install one (Debian: gcc)")
    return compiler


def check(spin: Path, model: str, variant: str | None = None) -> Verdict:
    """Check a model with spin, which visits every state. In an incorrect variant, spin stops at the first error."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as folder:
        flags = [f"-D{variant}"] if variant else []
        run([str(spin), *flags, "-a", str(FOLDER / f"{model}.pml")], folder)
        run([compiler, "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], folder)
        report = run(["./pan", "-m200000", "-w22"], folder)
    errors = re.search(r"errors: (\d+)", report)
    states = re.search(r"(\d+) states, stored", report)
    if errors is None or states is None or "max search depth too small" in report:
        raise RuntimeError(f"spin has not visited all of {model}:\n{report}")
    return Verdict(errors.group(1) == "0", int(states.group(1)), report)


def run(command: list[str], folder: str) -> str:
    """Run a program and return its output; fail if the program itself failed, not if it reports errors in the model."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "errors:" not in done.stdout:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Check all models and variants; the exit code is 0 if all results are as expected."""
    spin = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else find_spin()
    good = True
    for model, variants in MODELS.items():
        for variant in (None, *variants):
            verdict = check(spin, model, variant)
            as_expected = verdict.holds == (variant is None)
            good = good and as_expected
            subject = f"{model}.pml" + (f" with {variant}" if variant else "")
            result = "holds" if verdict.holds else "is refuted"
            print(f"{'ok    ' if as_expected else 'WRONG '} {subject} {result} ({verdict.states} states)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
