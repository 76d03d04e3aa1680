"""Every text that a value of the model holds, found by the annotations of its fields.

What is to be done to all texts of an assembly cannot rest on a list of fields: the one that is
forgotten, or that is added later, would be passed over without a word. So the walk knows no
field, and an annotation that it cannot take is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Change: TypeAlias = Callable[[str], str]
Stays: TypeAlias = Mapping[tuple[type, str], Callable[[str], bool]]
"""For a field of a class, the values of it that are left alone."""

_Way: TypeAlias = Callable[[Any, "_Walk"], Any]

_NO_TEXT = (bool, int, float, NoneType)


class Texts:
    """The texts of dataclasses, but for those that stay."""

    def __init__(self, stays: Stays) -> None:
        self._stays = stays
        self._ways: dict[Any, _Way | None] = {}

    def changed(self, value: Any, change: Change) -> Any:
        """The value with every text in it changed; keys of tables are texts, too. What holds no
        text that changes is the same object, and what was shared stays so."""
        way = self._way(type(value))
        return value if way is None else way(value, _Walk(change))

    def of(self, value: Any) -> tuple[str, ...]:
        """Every text, each once, in the order of the fields."""
        found: dict[str, None] = {}

        def note(text: str) -> str:
            found[text] = None
            return text

        self.changed(value, note)
        return tuple(found)

    def _way(self, annotation: Any) -> _Way | None:
        """How to go through a value of a type; ``None`` where it can hold no text."""
        if annotation not in self._ways:
            self._ways[annotation] = self._made(annotation)
        return self._ways[annotation]

    def _made(self, annotation: Any) -> _Way | None:
        if annotation is Any:
            return _json
        if annotation is str:
            return _text
        if is_dataclass(annotation) and isinstance(annotation, type):
            return self._dataclass(annotation)
        if isinstance(annotation, type) and issubclass(annotation, (*_NO_TEXT, Enum)):
            return None
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return None
        if origin in (UnionType, Union):
            return self._union(arguments)
        if origin in (tuple, frozenset):
            return _collection(origin, self._way(arguments[0]))
        if origin is Mapping:
            return _mapping(self._way(arguments[0]), self._way(arguments[1]))
        raise TypeError(f"no way through {annotation}")

    def _union(self, members: tuple[Any, ...]) -> _Way | None:
        ways = [way for member in members if (way := self._way(member)) is not None]
        if len(ways) > 1:
            return _json  # a knob's value: which member it is shows at the value alone
        if not ways:
            return None
        (way,) = ways
        return lambda value, walk: value if value is None else way(value, walk)

    def _dataclass(self, kind: type[Any]) -> _Way:
        hints = get_type_hints(kind)
        ways = [
            (field.name, way)
            for field in fields(kind)
            if (way := self._field(kind, field.name, hints[field.name])) is not None
        ]

        def go(value: Any, walk: _Walk) -> Any:
            return walk.once(value, lambda: _replaced(value, ways, walk))

        return go

    def _field(self, kind: type, name: str, annotation: Any) -> _Way | None:
        way = self._way(annotation)
        stays = self._stays.get((kind, name))
        if way is None or stays is None:
            return way
        return lambda value, walk: way(value, walk.but(stays))


class _Walk:
    """One walk: what is done to a text, and what was gone through already."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self._done: dict[int, Any] = {}  # by identity: what is walked lives as long as the walk

    def once(self, value: Any, make: Callable[[], Any]) -> Any:
        """What a value becomes. Stages share their messages, so each is made once."""
        if id(value) not in self._done:
            self._done[id(value)] = make()
        return self._done[id(value)]

    def but(self, stays: Callable[[str], bool]) -> _Walk:
        """The walk for a field in which some values stay."""
        change = self.change
        return _Walk(lambda text: text if stays(text) else change(text))


def _replaced(value: Any, ways: list[tuple[str, _Way]], walk: _Walk) -> Any:
    changed = {}
    for name, way in ways:
        old = getattr(value, name)
        new = way(old, walk)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value


def _text(value: str, walk: _Walk) -> str:
    new = walk.change(value)
    return value if new == value else new


def _json(value: Any, walk: _Walk) -> Any:
    if isinstance(value, str):
        return _text(value, walk)
    if isinstance(value, Mapping):
        pairs = {_text(str(key), walk): _json(entry, walk) for key, entry in value.items()}
        same = len(pairs) == len(value) and all(
            old is new
            for pair in zip(value.items(), pairs.items(), strict=True)
            for old, new in zip(*pair, strict=True)
        )
        return value if same else pairs
    if isinstance(value, (list, tuple)):
        parts = [_json(entry, walk) for entry in value]
        if all(old is new for old, new in zip(value, parts, strict=True)):
            return value
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def _collection(kind: type, each: _Way | None) -> _Way | None:
    if each is None:
        return None

    def go(value: Any, walk: _Walk) -> Any:
        parts = [each(part, walk) for part in value]
        same = all(old is new for old, new in zip(value, parts, strict=True))
        return value if same else kind(parts)

    return lambda value, walk: walk.once(value, lambda: go(value, walk))


def _mapping(key: _Way | None, each: _Way | None) -> _Way | None:
    if key is None and each is None:
        return None

    def go(value: Any, walk: _Walk) -> Any:
        pairs = {
            key(name, walk) if key else name: each(part, walk) if each else part
            for name, part in value.items()
        }
        return value if pairs == value else MappingProxyType(pairs)

    return go
