"""A long-lived node process that runs the real engine, and the texts it writes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from promptdbg.engines.agentos.config import DEFAULT_CONFIG
from promptdbg.engines.agentos.texts import Texts

_DRIVER = Path(__file__).with_name("driver.mjs")
_MARK, _OTHER = "QZQ", "ZQZ"
MODEL = {
    "modelId": "plain-model",
    "providerId": "demo",
    "maxContextTokens": 1000,
    "toolSupport": {"supported": False},
}


class RealAgentos:
    """The package under node. ``ask`` sends one request and waits for its answer."""

    def __init__(self, node_modules: Path) -> None:
        self._folder = node_modules
        package = json.loads((node_modules / "@framers/agentos/package.json").read_text("utf-8"))
        self.version: str = package["version"]

    def __enter__(self) -> RealAgentos:
        self._process = subprocess.Popen(
            ["node", str(_DRIVER), str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def ask(self, operation: str, **request: Any) -> dict[str, Any]:
        """The answer: ``ok`` with the result, or ``thrown`` with what the call threw."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"operation": operation, **request}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the node process has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def prompt(self, components: dict[str, Any], context: dict[str, Any] | None = None) -> Any:
        answer = self.ask(
            "construct", config=DEFAULT_CONFIG, components=components, model=MODEL, executionContext=context
        )
        return answer["ok"]["result"]["prompt"]

    def memory(self, traits: dict[str, float], **given: Any) -> str:
        request = {"totalTokenBudget": 10_000, "traits": traits, **given}
        return str(self.ask("memory", now=0, input=request)["ok"]["contextText"])


def real_texts(real: RealAgentos) -> Texts:
    """Every text the framework itself writes, read off prompts made of marks."""
    persona = {"activePersona": {"id": "p"}}

    def preference(name: str, value: str) -> str:
        return str(real.prompt({}, {**persona, "userPreferences": {name: value}})[0]["content"])

    form_before, form_after = preference("preferredFormat", _MARK).split(_MARK)
    history = [{"role": "summary", "content": _MARK}]
    summary = real.prompt({"conversationHistory": history})[0]["content"].split(_MARK)[0]
    asked = real.prompt({"retrievedContext": _MARK, "userInput": _OTHER})[0]["content"]
    head, rest = asked.split(_MARK)
    alone_head, alone_tail = real.prompt({"retrievedContext": _MARK})[0]["content"].split(_MARK)
    return Texts(
        concise=preference("verbosity", "low"),
        balanced=preference("verbosity", "medium"),
        detailed=preference("verbosity", "high"),
        format_before=form_before,
        format_after=form_after,
        summary_heading=summary,
        rag_head=head,
        rag_query_label=rest.removesuffix(_OTHER),
        rag_alone_head=alone_head,
        rag_alone_tail=alone_tail,
        **_memory_texts(real),
    )


def _memory_texts(real: RealAgentos) -> dict[str, Any]:
    traits = {
        "structured": {"conscientiousness": 1.0},
        "narrative": {"openness": 1.0},
        "emotional": {"emotionality": 1.0},
    }
    small = {**traits["structured"]}
    one = {"prospective": "prospectiveAlerts", "graph": "graphContext", "observations": "observationNotes"}

    def heading(mark: str, **given: Any) -> str:
        text = real.ask("memory", now=0, input={"totalTokenBudget": 280, "traits": small, **given})
        return str(text["ok"]["contextText"]).split(mark)[0]

    return {
        "memory_preambles": {style: real.memory(trait) for style, trait in traits.items()},
        "memory_headings": {
            "persistent": heading(_MARK, persistentMemoryText=_MARK),
            "working": heading(_MARK, workingMemoryText=_MARK),
            "semantic": heading("- [", retrievedTraces=[trace()]),
            "episodic": heading("- [", retrievedTraces=[trace(type="episodic")]),
            **{name: heading(f"- {_MARK}", **{key: [_MARK]}) for name, key in one.items()},
        },
    }


def _feeling(valence: float, intensity: float, mood: str) -> dict[str, Any]:
    return {"valence": valence, "intensity": intensity, "gmiMood": mood}


def trace(**changes: Any) -> dict[str, Any]:
    """A memory with everything a style may print."""
    return {
        "id": "t",
        "type": "semantic",
        "content": "c",
        "createdAt": 0,
        "provenance": {"confidence": 0.9},
        "tags": [],
        "associatedTraceIds": [],
        "entities": [],
        "emotionalContext": _feeling(0, 0, "calm"),
        **changes,
    }
