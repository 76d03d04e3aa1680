"""A quick dataclass is a frozen dataclass in every way but the time it takes to make."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from types import MappingProxyType

import pytest

from promptdbg.bulk import quick
from promptdbg.model import Decision, Message, Section, Span


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 3
    extra: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({"a": 1}))


@quick
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: int = 3
    extra: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({"a": 1}))


def test_it_takes_the_same_arguments() -> None:
    plain, quicker = inspect.signature(Plain), inspect.signature(Quick)
    assert list(plain.parameters) == list(quicker.parameters)
    assert [p.annotation for p in plain.parameters.values()] == [
        p.annotation for p in quicker.parameters.values()
    ]
    assert Quick("x") == Quick("x", 3) == Quick(size=3, name="x") == Quick("x", extra={"a": 1})
    for wrong in ({}, {"name": "x", "other": 1}):
        with pytest.raises(TypeError, match=r"Quick\.__init__\(\)"):
            Quick(**wrong)  # type: ignore[arg-type]


def test_it_cannot_be_changed() -> None:
    value = Quick("x")
    with pytest.raises(FrozenInstanceError):
        value.name = "y"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del value.size
    with pytest.raises((AttributeError, TypeError)):  # no such slot
        value.other = 1  # type: ignore[attr-defined]
    assert type(value) is Quick


def test_it_is_equal_prints_copies_and_pickles_as_before() -> None:
    value = Span(1, 5, kept=True)
    assert repr(value) == "Span(start=1, end=5, kept=True)"
    assert {value, Span(1, 5, kept=True)} == {value}
    assert replace(value, end=4) == Span(1, 4, kept=True) != value
    assert copy.deepcopy(value) == value == pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("kind", [Span, Section, Message, Decision])
def test_the_model_keeps_every_field_it_is_given(kind: type) -> None:
    given = {entry.name: f"value of {entry.name}" for entry in fields(kind)}
    made = kind(**given)
    assert {entry.name: getattr(made, entry.name) for entry in fields(kind)} == given
    assert kind(*given.values()) == made
