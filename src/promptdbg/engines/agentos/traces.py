"""How one memory is written, by the persona's style (``MemoryFormatters.ts``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from promptdbg.engines.agentos import js
from promptdbg.model import Json

STRUCTURED, NARRATIVE, EMOTIONAL = "structured", "narrative", "emotional"
CONTENT_CHARS = {STRUCTURED: 300, NARRATIVE: 350, EMOTIONAL: 300}
_MAX_LISTED = 3
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Written:
    """A memory's line: what is written, what it would be uncut, and the stretch of that which is lost."""

    text: str
    whole: str
    lost: tuple[int, int] | None


def style_of(traits: Mapping[str, Json]) -> str:
    """The style of the strongest trait; ties go to structured, then narrative."""
    conscientious, open_, emotional = (
        _trait(traits, name) for name in ("conscientiousness", "openness", "emotionality")
    )
    if conscientious >= open_ and conscientious >= emotional:
        return STRUCTURED
    return NARRATIVE if open_ >= conscientious and open_ >= emotional else EMOTIONAL


def _trait(traits: Mapping[str, Json], name: str) -> float:
    value = traits.get(name)
    return 0.5 if value is None else js.largest(0, js.smallest(1, js.to_number(value)))


def write_trace(trace: Json, style: str, now: float) -> Written:
    """One memory as a line.

    Raises:
        JsError: the trace lacks something that its style prints.
    """
    content = js.get(trace, "content")
    if not isinstance(content, str):
        raise js.JsError("calls substring on a memory whose content is not a text")
    before, after = _FORMS[style](trace, age(js.to_number(js.get(trace, "createdAt")), now))
    kept = js.substring(content, CONTENT_CHARS[style])
    lost = None
    if kept != content:
        split = 1 if "\ud800" <= kept[-1:] <= "\udbff" else 0
        lost = (len(before) + len(kept) - split, len(before) + len(content))
    return Written(before + kept + after, before + content + after, lost)


def age(created: float, now: float) -> str:
    """How long ago, in one unit, rounded down."""
    minutes = js.floor((now - created) / _MINUTE_MS)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{js.number_text(minutes)}m ago"
    hours = js.floor(minutes / 60)
    if hours < 24:
        return f"{js.number_text(hours)}h ago"
    days = js.floor(hours / 24)
    return f"{js.number_text(days)}d ago" if days < 7 else f"{js.number_text(js.floor(days / 7))}w ago"


def _confidence(number: float) -> str:
    return "high confidence" if number > 0.8 else "moderate confidence" if number > 0.5 else "low confidence"


def _structured(trace: Json, when: str) -> tuple[str, str]:
    confidence = js.to_number(js.get(js.get(trace, "provenance"), "confidence"))
    score = js.get(trace, "retrievalScore")
    relevance = confidence if js.nullish(score) else js.to_number(score)
    notes = [when, _confidence(confidence), f"relevance: {js.fixed(relevance, 2)}"]
    tags = js.get(trace, "tags")
    if js.length(tags) > 0:
        notes.append("tags: " + _listed(tags))
    return f"- [{js.to_string(js.get(trace, 'type'))}] ", f" ({' | '.join(notes)})"


def _narrative(trace: Json, when: str) -> tuple[str, str]:
    after = ""
    linked = js.length(js.get(trace, "associatedTraceIds"))
    if linked > 0:
        after += f" [linked to {js.number_text(linked)} other memories]"
    entities = js.get(trace, "entities")
    if js.length(entities) > 0:
        after += f" (involves: {_listed(entities)})"
    return f"{when}: ", after


def _emotional(trace: Json, when: str) -> tuple[str, str]:
    feeling = js.get(trace, "emotionalContext")
    valence, intensity = (js.to_number(js.get(feeling, key)) for key in ("valence", "intensity"))
    mood = js.to_string(js.get(feeling, "gmiMood"))
    sign = "(+)" if valence > 0.3 else "(-)" if valence < -0.3 else "(~)"
    after = ""
    if intensity > 0.6:
        after = f" [strongly felt, mood: {mood}]"
    elif intensity > 0.3:
        after = f" [mood: {mood}]"
    return f"{sign} {when}: ", after


_FORMS: Mapping[str, Any] = {STRUCTURED: _structured, NARRATIVE: _narrative, EMOTIONAL: _emotional}


def _listed(values: Any) -> str:
    return js.join(js.array(values, "slice")[:_MAX_LISTED], ", ")
