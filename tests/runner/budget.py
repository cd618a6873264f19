"""The rules of tests/budget.json: the maximum duration and the minimum number of tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from runner.reports import Suite

Load = Callable[[float, float], float]


class Budget:
    """The limits in tests/budget.json.

    The duration of a test is divided by the average number of runnable processes for each processor during the test.
    Therefore, a test does not exceed its limit only because the machine is busy.
    """

    def __init__(self, file: Path) -> None:
        self._rules: dict[str, Any] = json.loads(file.read_text())

    def missing(self, tiers: Iterable[str], suites: list[Suite]) -> list[str]:
        """Return an error for each project that has fewer tests than required."""
        problems = []
        for tier in tiers:
            for project, least in self._rules["least_tests"][tier].items():
                cases = [case for suite in suites if suite.project == project for case in suite.cases]
                test_count = sum(case.slow == (tier == "slow") for case in cases)
                if test_count < least:
                    reason = f"{test_count} tests" if test_count else "no reports"
                    problems.append(f"{project}: {reason} in the {tier} tier; tests/budget.json requires {least}")
        return problems

    def slow(self, suites: Iterable[Suite], load: Load) -> list[str]:
        """Return an error for each test and suite that takes too long for the fast tier."""
        problems = []
        for suite in suites:
            cases = [case for case in suite.cases if not case.slow]
            load_factor = load(suite.started, suite.ended)
            for case in cases:
                problems += self._over(
                    self._limit("test_seconds", case.name), case.seconds / load_factor, f"{suite.name}: {case.name}"
                )
            limited_seconds = sum(case.seconds for case in cases if case.name not in self._rules["longer"])
            problems += self._over(self._limit("suite_seconds", suite.name), limited_seconds / load_factor, suite.name)
        return problems

    def _limit(self, rule: str, name: str) -> float:
        return float(self._rules["longer"].get(name, self._rules[rule]))

    def _over(self, limit: float, needed: float, subject: str) -> list[str]:
        if needed <= limit * self._rules["slack"]:
            return []
        return [f"{subject}: {needed:.0f} s of {limit:.0f} s in the fast tier. Tag the slow tests, or use less data"]

    def minutes(self, tier: str, cpu_seconds: float) -> list[str]:
        """Return an error if a run took more processor time than allowed."""
        allowed = self._rules["core_minutes"][tier]
        return self._minutes(tier, cpu_seconds) if cpu_seconds / 60 > allowed else []

    def excess(self, tier: str, cpu_seconds: float) -> list[str]:
        """Return an error if a run took so much more processor time than allowed that a slow machine is not the cause.

        The processor time depends on the machine, and less than the elapsed time on its load.
        """
        allowed = self._rules["core_minutes"][tier] * self._rules["core_minutes_slack"]
        return self._minutes(tier, cpu_seconds) if cpu_seconds / 60 > allowed else []

    def _minutes(self, tier: str, cpu_seconds: float) -> list[str]:
        name = {"fast": "The fast tier", "all": "The run of both tiers"}[tier]
        allowed = self._rules["core_minutes"][tier]
        return [f"{name} took {cpu_seconds / 60:.1f} core-minutes of {allowed} in tests/budget.json"]
