"""Checks that what was read from a document is of the types that the model declares.

JSON of a stranger may hold any value anywhere, and everything that draws, sums or sorts an assembly
relies on the model's types. The checks are made from the annotations themselves, so that a new
field is checked as soon as there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from promptdbg.model import is_finite

_WHOLE_MAX = 2**63
"""Whole numbers beyond it measure nothing real, and arithmetic with floats cannot take them all."""

Check = Callable[[Any], None]


class WrongType(Exception):
    """A value is not of its type. ``place`` is where it stands, outermost first, joined by dots."""

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.place: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{'.'.join(self.place)} must be {self.wanted}"


def check_types(value: Any) -> None:
    """Check a dataclass, and all that it holds, against its annotations.

    Raises:
        WrongType: a field does not fit; its line names the place.
    """
    kind: Any = type(value)
    _check(kind)(value)


@cache
def _check(annotation: Any) -> Check:
    if annotation is Any:
        return lambda value: None
    if annotation in _SIMPLE:
        return _simple(*_SIMPLE[annotation])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _simple(lambda value: isinstance(value, annotation), f"a {annotation.__name__}")
    if is_dataclass(annotation):
        return _dataclass(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _simple(
            lambda value: isinstance(value, str) and value in arguments, "one of " + ", ".join(arguments)
        )
    if origin in (UnionType, Union):
        return _union(arguments)
    if origin is tuple:
        return _collection(tuple, _check(arguments[0]), "a list")
    if origin is frozenset:
        return _collection(frozenset, _check(arguments[0]), "a list")
    assert origin is Mapping, annotation
    return _mapping(_check(arguments[0]), _check(arguments[1]))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_WHOLE_MAX < value < _WHOLE_MAX


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and is_finite(value)


_SIMPLE: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "a text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (_whole, "a whole number"),
    float: (_number, "a number"),
    NoneType: (lambda value: value is None, "null"),
}


def _simple(fits: Callable[[Any], bool], wanted: str) -> Check:
    def check(value: Any) -> None:
        if not fits(value):
            raise WrongType(wanted)

    return check


def _union(members: tuple[Any, ...]) -> Check:
    checks = [_check(member) for member in members]

    def check(value: Any) -> None:
        if value is None and NoneType in members:
            return
        wrong: list[WrongType] = []
        for each in checks:
            try:
                return each(value)
            except WrongType as error:
                wrong.append(error)
        raise max(wrong, key=lambda error: len(error.place))  # the one that came furthest says most

    return check


def _collection(kind: type[Iterable[Any]], each: Check, wanted: str) -> Check:
    def check(value: Any) -> None:
        if not isinstance(value, kind):
            raise WrongType(wanted)
        for index, part in enumerate(value):
            try:
                each(part)
            except WrongType as error:
                error.place = (str(index), *error.place)
                raise

    return check


def _mapping(key: Check, each: Check) -> Check:
    def check(value: Any) -> None:
        if not isinstance(value, Mapping):
            raise WrongType("a table")
        for name, part in value.items():
            key(name)
            try:
                each(part)
            except WrongType as error:
                error.place = (str(name)[:80], *error.place)
                raise

    return check


def _dataclass(annotation: Any) -> Check:
    hints = get_type_hints(annotation)
    # What may hold any JSON needs no look.
    checks = [
        (field.name, _check(hints[field.name]))
        for field in fields(annotation)
        if hints[field.name] is not Any
    ]

    def check(value: Any) -> None:
        if not isinstance(value, annotation):
            raise WrongType(f"a {annotation.__name__}")
        for name, each in checks:
            try:
                each(getattr(value, name))
            except WrongType as error:
                error.place = (name, *error.place)
                raise

    return check
