"""Each test suite, SQL scenario and Python test that docs/requests.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_named_suites_and_files_exist() -> None:
    page = (ROOT / "docs" / "requests.md").read_text()
    suites = set(re.findall(r"`(\w+Suite)`", page))
    files = set(re.findall(r"`(tests/[\w/]+\.(?:sql|py))`", page))
    assert suites
    assert files
    assert suites <= {path.stem for path in (ROOT / "connector").rglob("*Suite.scala")}
    assert not [name for name in sorted(files) if not (ROOT / name).is_file()]


def test_the_requests_are_numbered_and_have_a_known_state() -> None:
    page = (ROOT / "docs" / "requests.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[0].strip("| ")) for row in rows] == list(range(1, 40))
    states = [row[3] for row in rows]
    assert set(states) <= {"done", "planned", "rejected", "out of scope"}
    counts = re.findall(r"(\d+) (?:are|is) (done|planned|rejected|out of scope)", page.split("\n|")[0])
    assert {state: int(number) for number, state in counts} == {state: states.count(state) for state in set(states)}


def test_a_request_that_is_done_has_a_proof() -> None:
    page = (ROOT / "docs" / "requests.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    unproven = [row[0] for row in rows if row[3] == "done" and not re.search(r"Suite`|`tests/", row[4])]
    assert not unproven
