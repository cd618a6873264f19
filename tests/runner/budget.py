"""The rules of tests/budget.json: how long tests may take, and how many there must be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from runner.reports import Suite

Load = Callable[[float, float], float]


class Budget:
    """What tests/budget.json allows.

    The seconds of a test are divided by how many processes wanted each processor meanwhile, so that a busy machine does
    not make a test a slow one.
    """

    def __init__(self, file: Path) -> None:
        self._rules: dict[str, Any] = json.loads(file.read_text())

    def missing(self, tiers: Iterable[str], suites: list[Suite]) -> list[str]:
        """Return the projects that have fewer tests than they should, or none."""
        said = []
        for tier in tiers:
            for project, least in self._rules["least_tests"][tier].items():
                found = sum(case.slow == (tier == "slow") for s in suites if s.project == project for case in s.cases)
                if found < least:
                    reason = f"{found} tests" if found else "no reports"
                    said.append(f"{project}: {reason} in the {tier} tier, not {least} as in tests/budget.json")
        return said

    def slow(self, suites: Iterable[Suite], load: Load) -> list[str]:
        """Return what takes too long for the fast tier."""
        said = []
        for suite in suites:
            cases = [case for case in suite.cases if not case.slow]
            busy = load(suite.started, suite.ended)
            for case in cases:
                said += self._over(
                    self._limit("test_seconds", case.name), case.seconds / busy, f"{suite.name}: {case.name}"
                )
            usual = sum(case.seconds for case in cases if case.name not in self._rules["longer"])
            said += self._over(self._limit("suite_seconds", suite.name), usual / busy, suite.name)
        return said

    def _limit(self, rule: str, name: str) -> float:
        return float(self._rules["longer"].get(name, self._rules[rule]))

    def _over(self, limit: float, needed: float, what: str) -> list[str]:
        if needed <= limit * self._rules["slack"]:
            return []
        return [f"{what}: {needed:.0f} s of {limit:.0f} s in the fast tier. Tag what is slow, or use smaller sizes"]

    def minutes(self, tier: str, cpu_seconds: float) -> list[str]:
        """Return whether a run took more processor time than it may."""
        allowed = self._rules["core_minutes"][tier]
        used = cpu_seconds / 60
        name = {"fast": "The fast tier", "all": "The run of both tiers"}[tier]
        return [f"{name} took {used:.1f} core-minutes of {allowed} (tests/budget.json)"] if used > allowed else []
