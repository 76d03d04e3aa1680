"""What the knobs make of the workspace's own model, context and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from promptdbg.engines.agentos.estimate import STRIP_THINKING
from promptdbg.engines.agentos.knobs import (
    AUTO,
    CONTEXT_TEXTS,
    PREFERENCE_TEXTS,
    SUMMARIZER_FAILS,
    SUMMARIZER_OFF,
    THINKING_KEEP,
    THINKING_STRIP,
)
from promptdbg.engines.agentos.load import AgentosInputs
from promptdbg.engines.agentos.summarizer import StubSummarizer
from promptdbg.model import Json, Settings, Value


@dataclass(frozen=True)
class Target:
    """A workspace's own values; a knob that is set replaces the one it stands for."""

    inputs: AgentosInputs
    settings: Settings
    values: Mapping[str, Value]

    def _set(self, name: str) -> bool:
        return name in self.settings.values

    def context(self) -> Json:
        """The execution context, with the mood, the hint and so on that are set."""
        context = self.inputs.context
        changes: dict[str, Json] = {
            key: self.values[name] for name, key in CONTEXT_TEXTS.items() if self._set(name)
        }
        if self._set("signals"):
            signals = self.values["signals"]
            changes["conversationSignals"] = list(signals) if isinstance(signals, tuple) else None
        preferences = {key: self.values[name] for name, key in PREFERENCE_TEXTS.items() if self._set(name)}
        if not changes and not preferences:
            return context
        base = context if isinstance(context, dict) else {"activePersona": {}}
        changed: dict[str, Json] = {**base, **changes}
        if preferences:
            before = base.get("userPreferences")
            changed["userPreferences"] = {**(before if isinstance(before, dict) else {}), **preferences}
        return changed

    def model(self) -> Json:
        """The model target."""
        model = dict(self.inputs.model)
        for name, key in (
            ("model", "modelId"),
            ("window", "maxContextTokens"),
            ("optimal", "optimalContextTokens"),
        ):
            if self._set(name):
                model[key] = self.values[name]
        if self._set("vision"):
            model["visionSupport"] = {"supported": self.values["vision"]}
        if self._set("tools") or self._set("tool_format"):
            before = model.get("toolSupport")
            support = dict(before) if isinstance(before, dict) else {}
            if self._set("tools"):
                support["supported"] = self.values["tools"]
            if self._set("tool_format"):
                support["format"] = self.values["tool_format"]
            model["toolSupport"] = support
        return model

    def config(self) -> Mapping[str, Json]:
        """The engine configuration."""
        if not self._set("trigger_ratio"):
            return self.inputs.config
        history = self.inputs.config.get("historyManagement")
        history = dict(history) if isinstance(history, dict) else {}
        return {
            **self.inputs.config,
            "historyManagement": {**history, "summarizationTriggerRatio": self.values["trigger_ratio"]},
        }

    def template(self) -> str | None:
        """The template's name for the call."""
        if not self._set("template"):
            return self.inputs.template
        return None if self.values["template"] == AUTO else str(self.values["template"])

    def summarizer(self) -> StubSummarizer | None:
        """The summarizer, if there is to be one."""
        stub = self.inputs.summarizer
        if not self._set("summarizer"):
            return stub
        if self.values["summarizer"] == SUMMARIZER_OFF:
            return None
        fails = self.values["summarizer"] == SUMMARIZER_FAILS
        return replace(stub or StubSummarizer(), history_fails=fails, rag_fails=fails)

    def env(self) -> Mapping[str, str]:
        """The environment variables that the newer version reads."""
        if not self._set("thinking"):
            return self.inputs.env
        rest = {key: value for key, value in self.inputs.env.items() if key != STRIP_THINKING}
        choice = {THINKING_STRIP: "1", THINKING_KEEP: "0"}.get(str(self.values["thinking"]))
        return rest if choice is None else {**rest, STRIP_THINKING: choice}
