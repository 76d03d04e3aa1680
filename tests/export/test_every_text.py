"""No text of an assembly gets out unseen: a canary in every field that can hold one, found by the
annotations, so that a field that is added tomorrow is tried too."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from promptdbg.commands.picture import svg
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.engines import ENGINE_NAMES
from promptdbg.export import FORMATS
from promptdbg.export.formats import rendered
from promptdbg.export.levels import Level, export
from promptdbg.export.load import assembly_from
from promptdbg.export.vocabulary import is_code, is_error
from promptdbg.model import Assembly, Message, Section, Stage

SOURCES = Path(__file__).parents[2] / "src" / "promptdbg"
EXAMPLES = SOURCES / "examples"
SALT = b"0" * 32


class Planted:
    """A value of every type of the model, with a mail address of its own wherever a text may be."""

    def __init__(self) -> None:
        self.at: dict[str, str] = {}

    def canary(self, place: str) -> str:
        name = f"kanari{len(self.at)}xq"
        self.at[name] = place
        return f"{name}@example.org"

    def value(self, annotation: Any, place: str) -> Any:
        if annotation is str:
            return self.canary(place)
        if annotation is Any:
            return {self.canary(place): [self.canary(place), {"text": self.canary(place)}]}
        if is_dataclass(annotation):
            assert isinstance(annotation, type)
            return self.object(annotation, place)
        if isinstance(annotation, type) and issubclass(annotation, Enum):
            return next(iter(annotation))
        if annotation in (bool, int, float):
            return annotation(1)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return arguments[0]
        if origin in (UnionType, Union):
            return self.value(
                next(a for a in (str, *arguments) if a in arguments and a is not NoneType), place
            )
        if origin in (tuple, frozenset):
            return origin([self.value(arguments[0], place)])
        assert origin is Mapping, annotation
        return MappingProxyType({self.value(arguments[0], place): self.value(arguments[1], place)})

    def object(self, kind: type[Any], place: str = "") -> Any:
        hints = get_type_hints(kind)
        values = {f.name: self.value(hints[f.name], f"{place}.{f.name}".strip(".")) for f in fields(kind)}
        if kind is Message:  # its wire names keys that it has
            values["wire"] = ("role", "content", "tool_calls", "tool_call_id", "name", *values["extra"])
        if kind is Assembly:  # the texts are what is looked for
            values["without_texts"] = False
        if kind is Stage:  # its statuses are those of its messages
            values["statuses"] = MappingProxyType(
                {m.id: s for m in values["messages"] for s in values["statuses"].values()}
            )
        return kind(**values)

    def found_in(self, text: str) -> set[str]:
        return {place for name, place in self.at.items() if name in text}


def assembly_with(planted: Planted) -> Assembly:
    """An assembly whose decisions and parts are about what is there, or no form would show them."""
    made: Assembly = planted.object(Assembly)
    (section,), (decision,), (stage,) = made.sections, made.decisions, made.stages
    section = replace(section, parent=None, place="system")
    part = replace(section, id=planted.canary("sections.id"), parent=section.id)
    on = [replace(decision, item=item) for item in (section.id, stage.messages[0].id, decision.item)]
    later = replace(stage, statuses=MappingProxyType({}), name=planted.canary("stages.name"))
    final = replace(later, kind=type(stage.kind)("final"), dropped=())
    named = [replace(decision, rule=made.rules[0].id)]
    return replace(
        made,
        sections=(section, part),
        decisions=(*on, *named),
        stages=(stage, later, final),
        settings=replace(made.settings, turn=1),
    )


def forms(assembly: Assembly, level: Level) -> Iterator[str]:
    made = export(assembly, level, SALT)
    yield made.report()
    for form in FORMATS:
        yield rendered(made, form, svg)
    assembly_from(json.loads(rendered(made, "json", svg)))


@pytest.mark.parametrize("engine", ["", "given", *ENGINE_NAMES])
@pytest.mark.parametrize("level", ["structure", "redacted"])
def test_no_text_of_any_field_gets_out(level: Level, engine: str) -> None:
    planted = Planted()
    assembly = assembly_with(planted)
    if engine:  # what a document says of its engine is a stranger's word as well
        assembly = replace(assembly, engine=replace(assembly.engine, name=engine))
    for written in forms(assembly, level):
        assert planted.found_in(written) == set()


def test_the_canaries_stand_in_the_full_export() -> None:
    planted = Planted()
    made = export(assembly_with(planted), "full", SALT)
    for name in (
        "sections.kind",
        "stages.title",
        "rules.note",
        "warnings.code",
        "failure.where",
        "turns.time",
    ):
        assert name in planted.found_in(rendered(made, "json", svg)), name


@pytest.mark.parametrize("name", sorted(p.parent.name for p in EXAMPLES.glob("*/promptdbg.toml")))
def test_what_is_no_secret_stays(name: str) -> None:
    """Of our own rules, kinds, codes and times nothing looks like a secret, so nothing of them goes."""
    assembly = Debugger(open_workspace(EXAMPLES / name, OpenRequest(now="2026-03-01T09:30"))).assembly
    redacted = export(assembly, "redacted", SALT).assembly
    assert redacted is not None
    for field in ("engine", "tokenizer", "budget", "rules", "failure"):
        assert getattr(redacted, field) == getattr(assembly, field)
    assert [turn.time for turn in redacted.turns] == [turn.time for turn in assembly.turns]
    assert [notice.code for notice in redacted.warnings] == [notice.code for notice in assembly.warnings]
    assert [s.kind for s in redacted.sections] == [s.kind for s in assembly.sections]
    assert [(s.name, s.title) for s in redacted.stages] == [(s.name, s.title) for s in assembly.stages]
    structure = assembly_from(export(assembly, "structure", SALT).document)
    assert replace(structure.engine, fidelity="") == replace(assembly.engine, fidelity="")
    assert structure.rules == assembly.rules
    assert [notice.code for notice in structure.warnings] == [notice.code for notice in assembly.warnings]
    assert [s.measured_by for s in structure.stages] == [s.measured_by for s in assembly.stages]
    assert [d.id for d in structure.decisions] == [d.id for d in assembly.decisions]
    assert structure.tokenizer.name == assembly.tokenizer.name
    assert set(structure.settings.values) == set(assembly.settings.values)


def test_a_name_of_this_machine_that_is_a_word_of_the_form_breaks_nothing() -> None:
    from promptdbg.export.redact import Rules

    message = Message("m1", "user", "content", 1, name="tool", wire=("role", "content", "name"))
    planted = Planted()
    made: Assembly = planted.object(Assembly)
    assembly = replace(
        made, stages=(replace(made.stages[0], messages=(message,), statuses=MappingProxyType({})),)
    )
    shown = export(assembly, "redacted", SALT, Rules(words={"content": "user", "name": "host"})).assembly
    assert shown is not None
    assert shown.stages[0].messages[0].to_json()["content"] == "‹user-1›"


def codes() -> set[str]:
    """The codes of notices as the engines write them, what is computed in one left out."""
    found: set[str] = set()
    for path in (
        *SOURCES.glob("engines/**/*.py"),
        *SOURCES.glob("files/*.py"),
        *SOURCES.glob("sessions/*.py"),
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = getattr(called, "id", getattr(called, "attr", ""))
            index = {"Notice": 0, "warn": 0, "_warn": 0, "_notice": 0, "Problem": 0, "Issue": 1}.get(name)
            if index is None or len(node.args) <= index:
                continue
            match node.args[index]:
                case ast.Constant(value=str(text)):
                    found.add(text)
                case ast.JoinedStr(values=parts):
                    found.update(str(p.value).strip(".") for p in parts if isinstance(p, ast.Constant))
    return found - {""}


def test_every_code_of_ours_may_stand_in_a_structure() -> None:
    assert [code for code in codes() if not is_code(code)] == []
    assert len(codes()) > 50
    assert not is_code("bee.jane-doe")


def test_of_a_failure_the_class_stays() -> None:
    assert is_error("ValueError")
    assert is_error("Phronomy::ContextLengthError")
    assert not is_error("JaneDoe")


def test_lists_that_share_their_messages_still_share_them() -> None:
    planted = Planted()
    redacted = export(assembly_with(planted), "redacted", SALT).assembly
    assert redacted is not None
    assert redacted.stages[0].messages is redacted.stages[1].messages
    assert isinstance(redacted.sections[0], Section)
