"""The results of checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark_iceberg.errors import typed_error

# The maximum number of examples in a finding.
EXAMPLES = 5


@dataclass(frozen=True)
class Check:
    """A check that was made.

    Attributes:
        name: what was checked.
        outcome: how much was checked, and with which result.
    """

    name: str
    outcome: str


@dataclass(frozen=True)
class Finding:
    """Something that a check found.

    Attributes:
        check: the name of the check.
        severity: `error` for damage or a check that failed, `warning` for waste or a risk, `note` for maintenance that
            is due.
        message: what was found, and its effect.
        repair: the command or the action that repairs it.
        examples: some of the files, at most five.
    """

    check: str
    severity: str
    message: str
    repair: str
    examples: Sequence[str] = ()


@dataclass(frozen=True)
class Diagnosis:
    """The results of all checks.

    Attributes:
        checks: the checks that were made.
        findings: what they found; empty for a table without damage that needs no maintenance.
    """

    checks: Sequence[Check]
    findings: Sequence[Finding]

    @property
    def is_damaged(self) -> bool:
        """Whether a check found damage, or failed, so that damage is possible."""
        return any(finding.severity == "error" for finding in self.findings)


Result = tuple[Check, list[Finding]]


def outcome(name: str, text: str, findings: list[Finding]) -> Result:
    """Return the result of a check whose findings are complete."""
    return Check(name, f"{text}, {len(findings)} findings" if findings else f"{text}, no finding"), findings


def not_checked(name: str, error: Exception) -> Result:
    """Return the result of a check that failed."""
    java = getattr(error, "java_exception", None)
    text = str(typed_error(error) or (error if java is None else java.toString())).strip()
    reason = text.splitlines()[0] if text else type(error).__name__
    finding = Finding(name, "error", f"The check failed: {reason}", "Remove the cause, and run the checks again")
    return Check(name, f"not checked: {reason}"), [finding]
