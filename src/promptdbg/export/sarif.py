"""Check outcomes as SARIF 2.1.0, for code hosts that show them at the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promptdbg import __version__
from promptdbg.analysis.check import Outcome

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_RULES = {
    "failure": "The framework would fail on this input",
    "must-reach": "A text must reach the model",
    "no-drop": "An item must reach the model whole",
    "max-tokens": "The prompt must not cost more",
    "max-section": "An item must not cost more",
    "baseline": "Nothing may be lost that was whole before",
}


def sarif(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The broken demands as one SARIF run; outcomes that hold are left out, as SARIF readers expect."""
    broken = [outcome for outcome in outcomes if not outcome.ok]
    codes = sorted({outcome.code for outcome in broken})
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "promptdbg",
                        "version": __version__,
                        "rules": [
                            {"id": code, "shortDescription": {"text": _RULES.get(code, _lint_title(code))}}
                            for code in codes
                        ],
                    }
                },
                "results": [_result(outcome) for outcome in broken],
            }
        ],
    }


def _lint_title(code: str) -> str:
    return "The final list must keep the provider's rules: " + code.removeprefix("lint-").replace("-", " ")


def _result(outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": outcome.code, "level": "error", "message": {"text": outcome.message}}
    if outcome.source is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": outcome.source.path}}
        if outcome.source.start_line is not None:
            place["region"] = {"startLine": outcome.source.start_line}
        result["locations"] = [{"physicalLocation": place}]
    return result
