"""Check outcomes as SARIF 2.1.0, for code hosts that show them at the line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from promptdbg import __version__
from promptdbg.analysis.check import Outcome
from promptdbg.model import Source
from promptdbg.paths import inside, is_absolute, uri

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_RULES = {
    "failure": "The framework would fail on this input",
    "must-reach": "A text must reach the model",
    "no-drop": "An item must reach the model whole",
    "max-tokens": "The prompt must not cost more",
    "max-section": "An item must not cost more",
    "baseline": "Nothing may be lost that was whole before",
}


def sarif(outcomes: Sequence[Outcome], workspace: str, folder: str, otherwise: Source) -> dict[str, Any]:
    """The broken demands as one SARIF run; outcomes that hold are left out, as SARIF readers expect.

    Args:
        workspace: the folder that an engine's own relative places lie in.
        folder: what places are relative to: the root of the repository, where CI checks it.
        otherwise: the place of a result that has none of its own; code hosts refuse one without.
    """
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
                "results": [
                    _result(outcome, _whole(outcome.source or otherwise, workspace), folder)
                    for outcome in broken
                ],
            }
        ],
    }


def _lint_title(code: str) -> str:
    return "The final list must keep the provider's rules: " + code.removeprefix("lint-").replace("-", " ")


def _whole(source: Source, workspace: str) -> Source:
    return source if is_absolute(source.path) else replace(source, path=inside(workspace, source.path))


def _result(outcome: Outcome, source: Source, folder: str) -> dict[str, Any]:
    place: dict[str, Any] = {
        "artifactLocation": {"uri": uri(source.path, folder)},
        "region": {"startLine": source.start_line or 1},
    }
    return {
        "ruleId": outcome.code,
        "level": "error",
        "message": {"text": outcome.message},
        "locations": [{"physicalLocation": place}],
    }
