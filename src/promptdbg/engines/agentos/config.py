"""The engine configuration AgentOS starts with, and what a workspace changes of it.

``src/core/config/AgentOSConfig.ts``. Only the keys that the engine reads have an effect; the others
are accepted and listed by ``UNREAD``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptdbg.model import Json

DEFAULT_WINDOW = 8192
"""Tokens the GMI takes where a model names none (``GMI.ts``)."""

DEFAULT_CONFIG: Mapping[str, Json] = {
    "defaultTemplateName": "openai_chat",
    "availableTemplates": {},
    "tokenCounting": {"strategy": "estimated", "estimationModel": "gpt-3.5-turbo"},
    "historyManagement": {
        "defaultMaxMessages": 40,
        "maxTokensForHistory": 4000,
        "summarizationTriggerRatio": 0.8,
        "preserveImportantMessages": True,
    },
    "contextManagement": {
        "maxRAGContextTokens": 1500,
        "summarizationQualityTier": "balanced",
        "preserveSourceAttributionInSummary": True,
    },
    "contextualElementSelection": {
        "maxElementsPerType": {},
        "defaultMaxElementsPerType": 3,
        "priorityResolutionStrategy": "highest_first",
        "conflictResolutionStrategy": "skip_conflicting",
    },
    "performance": {"enableCaching": True, "cacheTimeoutSeconds": 120},
}

UNREAD = (
    "historyManagement.defaultMaxMessages",
    "historyManagement.maxTokensForHistory",
    "contextManagement.maxRAGContextTokens",
    "contextManagement.minContextRelevanceThreshold",
    "contextManagement.summarizationQualityTier",
    "contextualElementSelection",
    "tokenCounting.estimationModel",
)
"""Keys that are configured and documented, but that nothing in the engine reads."""


def merged(changes: Mapping[str, Any]) -> dict[str, Json]:
    """The default configuration with one level of tables merged."""
    config: dict[str, Json] = dict(DEFAULT_CONFIG)
    for key, value in changes.items():
        before = config.get(key)
        config[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    return config


def unread(changes: Mapping[str, Any]) -> list[str]:
    """Which of the changed keys have no effect, as dotted names."""
    found = []
    for name in UNREAD:
        section, _, key = name.partition(".")
        value = changes.get(section)
        if value is not None and (not key or (isinstance(value, dict) and key in value)):
            found.append(name)
    return found
