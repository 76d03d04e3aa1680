"""The structure of a prompt, fit for a bug report: order, kinds, priorities, sizes in every unit,
statuses, rules and numbers, roles and alignment, salted hashes. No text, no names but well-known
ones, no paths, no users, no hosts: whatever came from disk is a stable placeholder (``skill-12``).

Built from an allow list: a value is written because it is known to be harmless, never because
nothing was found against it.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from promptdbg.analysis.why import arithmetic
from promptdbg.bulk import collector_at_rest
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.engines.base import EDITED, SWITCHED_OFF, AnyEngine
from promptdbg.export.document import Document, counted_document
from promptdbg.export.load import STRUCTURE_SCHEMA
from promptdbg.export.vocabulary import (
    BLOCK_TYPES,
    FILE_NAMES,
    ROLES,
    is_code,
    is_decision,
    is_error,
    is_measure,
    is_plain,
    suffix,
)
from promptdbg.lengths import utf8_length, utf16_length
from promptdbg.model import (
    Assembly,
    Decision,
    EngineInfo,
    Failure,
    Json,
    Message,
    MessageStatus,
    Notice,
    Part,
    Rule,
    Section,
    Settings,
    Source,
    Stage,
)
from promptdbg.tokens import ENCODINGS

_CLASS = re.compile(r"\w+(?:::\w+)*")
_OWN_RULES = frozenset({SWITCHED_OFF.id, EDITED.id})


class _Known:
    """What an engine itself says: words that are no user's."""

    def __init__(self, engine: AnyEngine) -> None:
        knobs = engine.knobs(None)
        self.title = engine.title
        self.rules = {rule.id: rule for rule in engine.rules}
        self.knobs = frozenset(knob.name for knob in knobs)
        self._versions = {word for rule in engine.rules for word in _words(rule.version)}
        self._versions.update(word for knob in knobs for choice in knob.choices for word in _words(choice))

    def is_version(self, version: str) -> bool:
        """Whether it is made of words by which the engine calls its versions."""
        return self._versions.issuperset(_words(version)) and set(version) <= _VERSION_CHARS


_VERSION_CHARS = frozenset(string.ascii_letters + string.digits + " .-();,")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\s();,]+", text)


@collector_at_rest
def structure(assembly: Assembly, salt: bytes) -> Document:
    """The structure document of an assembly.

    Args:
        salt: kept on one machine, it makes the hashes of two exports comparable, and of nobody
            else's.
    """
    return _Structure(assembly, salt).document()


class _Structure:
    def __init__(self, assembly: Assembly, salt: bytes) -> None:
        self._assembly = assembly
        self._salt = salt
        self._ours = assembly.engine.name in ENGINE_NAMES
        # That it is ours is the word of a document, too: what stands as it is, the engine itself says.
        self._known = _Known(engine(assembly.engine.name)) if self._ours else None
        self._placeholders: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._messages: dict[int, Document] = {}
        self._items: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._decided: defaultdict[str, list[str]] = defaultdict(list)
        for decision in assembly.decisions:
            self._decided[decision.item].append(self._decision_id(decision.id))
        self._kinds = {section.id: section.kind for section in assembly.sections}

    def document(self) -> Document:
        assembly = self._assembly
        failure = assembly.failure
        return {
            "schema": STRUCTURE_SCHEMA,
            "engine": self._engine(assembly.engine),
            "tokenizer": {
                "name": self._tokenizer(assembly.tokenizer.name),
                "exact": assembly.tokenizer.exact,
            },
            "workspace": "workspace",
            "session": None if assembly.session is None else "session",
            "turn": assembly.turn,
            "settings": self._settings(assembly.settings),
            "budget": {
                "limit": assembly.budget.limit,
                "used": assembly.budget.used,
                "unit": assembly.budget.unit,
                "parts": self._parts(assembly.budget.parts),
                "window": assembly.budget.window,
                "reserved": self._parts(assembly.budget.reserved),
                **counted_document(assembly.budget),
            },
            "sections": [self._section(section) for section in assembly.sections],
            "stages": [self._stage(stage) for stage in assembly.stages],
            "decisions": [self._decision(decision) for decision in assembly.decisions],
            "rules": [self._rule_entry(rule) for rule in assembly.rules],
            "warnings": [self._warning(notice) for notice in assembly.warnings],
            "failure": None if failure is None else self._failure(failure),
            "turns": [{"number": turn.number, "title": "", "row": turn.row} for turn in assembly.turns],
        }

    # ---- names ----

    def _placeholder(self, kind: str, raw: str, ending: str = "") -> str:
        key = (kind, raw)
        if key not in self._placeholders:
            self._numbers[kind] += 1
            self._placeholders[key] = f"{kind}-{self._numbers[kind]}{ending}"
        return self._placeholders[key]

    def _word(self, word: str, kind: str) -> str:
        return word if is_plain(word) else self._placeholder(kind, word)

    def _words(self, text: str, kind: str) -> str:
        """A name of several words, as ledger lines have."""
        return text if all(is_plain(word) for word in text.split()) else self._placeholder(kind, text)

    def _item(self, item: str) -> str:
        """An item id: component by component, the kind of the section naming the placeholder."""
        if item not in self._items:
            self._items[item] = self._shown_item(item)
        return self._items[item]

    def _shown_item(self, item: str) -> str:
        kind = self._kind(self._kinds.get(item, "item"))
        if item in self._kinds or all(is_plain(part) for part in item.split("/")):
            parts = item.split("/")
            shown = [part if is_plain(part) else self._file(part, kind) for part in parts]
            return "/".join(shown)
        return self._placeholder("message", item)

    def _file(self, name: str, kind: str) -> str:
        return name if name in FILE_NAMES else self._placeholder(kind, name, suffix(name))

    def _kind(self, kind: str) -> str:
        return kind if is_plain(kind) else "section"

    def _rule(self, rule: str) -> str:
        known = self._known.rules if self._known else _OWN_RULES
        return rule if rule in known else self._placeholder("rule", rule)

    def _decision_id(self, ident: str) -> str:
        return ident if is_decision(ident) else self._placeholder("decision", ident)

    def _tokenizer(self, name: str) -> str:
        return name if name in ENCODINGS else self._placeholder("tokenizer", name)

    def _source(self, source: Source | None) -> Document | None:
        if source is None:
            return None
        if source.path not in self._paths:
            name = PurePosixPath(source.path.replace("\\", "/")).name
            self._paths[source.path] = self._file(name, "file")
        return {
            "path": self._paths[source.path],
            "start_line": source.start_line,
            "end_line": source.end_line,
        }

    # ---- values ----

    def _engine(self, info: EngineInfo) -> Document:
        known = self._known
        return {
            "name": info.name if known else "given",
            "title": known.title if known else "a program",
            "version": info.version if known and known.is_version(info.version) else "",
            "fidelity": "exact" if info.fidelity == "exact" else "not exact",
        }

    def _rule_entry(self, rule: Rule) -> Document:
        ours = self._known is not None and self._known.rules.get(rule.id) == rule
        return {
            "id": self._rule(rule.id),
            "title": rule.title if ours else "",
            "framework": rule.framework if ours else "",
            "version": rule.version if ours else "",
            "source": rule.source if ours else "",
            "note": rule.note if ours else "",
        }

    def _warning(self, notice: Notice) -> Document:
        plain = self._ours and is_code(notice.code)
        return {
            "code": notice.code if plain else self._placeholder("warning", notice.code),
            "message": "",
            "source": self._source(notice.source),
        }

    def _failure(self, failure: Failure) -> Document:
        # Behind the class stands what it says, and a workspace may raise a class of its own.
        match = _CLASS.match(failure.error)
        name = match[0] if match else ""
        plain = self._ours and (is_error(name) or is_code(name))
        return {"error": name if plain else "", "where": "", "message": ""}

    def _settings(self, settings: Settings) -> Document:
        # A number or a switch says nothing; a text may be anything.
        values = {
            name: value if isinstance(value, (bool, int, float)) or value is None else "text"
            for name, value in sorted(settings.values.items())
            if self._known and name in self._known.knobs
        }
        return {
            "values": values,
            "off": [self._item(item) for item in sorted(settings.off)],
            "priorities": {self._item(item): number for item, number in sorted(settings.priorities.items())},
            "texts": {self._item(item): "" for item in sorted(settings.texts)},
        }

    def _parts(self, parts: Iterable[Part]) -> list[Document]:
        return [{"name": self._words(part.name, "part"), "tokens": part.tokens} for part in parts]

    def _section(self, section: Section) -> Document:
        return {
            "id": self._item(section.id),
            "name": self._item(section.id).rpartition("/")[2],
            "kind": self._kind(section.kind),
            "parent": None if section.parent is None else self._item(section.parent),
            "order": section.order,
            "priority": section.priority,
            "source": self._source(section.source),
            "place": section.place,
            "status": section.status.value,
            "evidence": section.evidence.value,
            "tokens": section.tokens,
            "tokens_original": section.tokens_original,
            "size": section.size,
            "size_original": section.size_original,
            "unit": section.unit,
            "offset": section.offset,
            "spans": [{"start": s.start, "end": s.end, "kept": s.kept} for s in section.spans],
            "decisions": self._decided.get(section.id, []),
            "sizes": _sizes(section.text),
            "hash": self._hash(section.text),
        }

    def _stage(self, stage: Stage) -> Document:
        return {
            "name": self._word(stage.name, "stage"),
            "kind": stage.kind.value,
            "tokens": stage.tokens,
            "size": stage.size,
            "unit": stage.unit,
            "measured_by": stage.measured_by
            if is_measure(stage.measured_by)
            else self._placeholder("measure", stage.measured_by),
            "messages": [self._message(m, stage.status_of(m.id)) for m in stage.messages],
            "dropped": [self._message(m, MessageStatus.DROPPED) for m in stage.dropped],
        }

    def _message(self, message: Message, status: MessageStatus) -> Document:
        # Stages share their messages, so each is described once; most are kept most of the time.
        known = self._messages.get(id(message))
        if known is None:
            known = self._messages[id(message)] = self._described(message)
        return known if status is MessageStatus.KEPT else {**known, "status": status.value}

    def _described(self, message: Message) -> Document:
        content = json.dumps(message.to_json(), ensure_ascii=False)
        return {
            "id": self._item(message.id),
            "sources": [self._item(source) for source in message.sources],
            "role": message.role if message.role in ROLES else self._placeholder("role", message.role),
            "tool_call_id": self._call(message.tool_call_id),
            "name": None if message.name is None else self._placeholder("tool", str(message.name)),
            "tokens": message.tokens,
            "size": message.size,
            "evidence": message.evidence.value,
            "source": self._source(message.source),
            "decisions": [],
            "content_shape": _shape(message.content),
            "calls": [self._call(call.get("id")) for call in _calls(message.tool_calls)],
            "sizes": _sizes(content),
            "hash": self._hash(content),
            "status": MessageStatus.KEPT.value,
        }

    def _call(self, ident: Json) -> str | None:
        return None if ident is None else self._placeholder("call", str(ident))

    def _decision(self, decision: Decision) -> Document:
        return {
            "id": self._decision_id(decision.id),
            "stage": self._word(decision.stage, "stage"),
            "rule": self._rule(decision.rule),
            "action": decision.action.value,
            "item": self._item(decision.item),
            "before": decision.before,
            "after": decision.after,
            "measured": decision.measured,
            "limit": decision.limit,
            "unit": decision.unit,
            "because": arithmetic(decision),
        }

    def _hash(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._salt, digest_size=12).hexdigest()


def _sizes(text: str) -> dict[str, int]:
    return {
        "bytes": utf8_length(text),
        "chars": len(text),
        "utf16": utf16_length(text),
        "lines": text.count("\n") + 1 if text else 0,
    }


def _shape(content: Json) -> Any:
    """What a content is made of: the types of its blocks, never what is in them."""
    if isinstance(content, str):
        return "text"
    if content is None:
        return None
    if isinstance(content, (list, tuple)):
        return [_block_type(block) for block in content]
    return "other"


def _block_type(block: Json) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) and kind in BLOCK_TYPES else "other"


def _calls(calls: Json) -> list[Mapping[str, Json]]:
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, (list, tuple)) else []
