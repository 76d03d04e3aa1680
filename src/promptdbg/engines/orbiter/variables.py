"""``${path}`` placeholders: where each value came from, and the text they give.

Values from disk are plain data and are walked as such. A real object, which only a Python program
can put into a state, is read by attribute, as the framework does.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from promptdbg.engines.orbiter.state import ContextState

Origin = Literal["registered", "state", "missing"]


class VariableResolveError(Exception):
    """A path leads nowhere; its placeholder stays as typed."""


class Replacement(NamedTuple):
    """One placeholder of a template: its span, the path as typed, and what stands in its place."""

    start: int
    end: int
    path: str
    origin: Origin
    text: str


def placeholders(template: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and path of every placeholder: ``${``, then anything but ``}``, then ``}``.

    The path may hold spaces, line feeds and ``${``. Linear in the template, unlike the pattern.
    """
    start = template.find("${")
    while start >= 0:
        close = template.find("}", start + 2)
        if close < 0:
            return
        if close > start + 2:
            yield start, close + 1, template[start + 2 : close]
            start = template.find("${", close + 1)
        else:  # an empty path is not a placeholder; the next one may begin inside
            start = template.find("${", start + 2)


class _Attribute(str):
    """A method or class attribute of plain data, as text; it leads no further."""

    __slots__ = ()


_MISSING = object()

# What plain data holds as plain values, and its types as words. Everything else a path can reach on it
# is a method, which the framework prints with an address that differs from run to run.
_VALUE_PARTS = frozenset({"real", "imag", "numerator", "denominator", "__class__", "__doc__"})
_TYPE_PARTS = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})
_PLAIN = (str, int, float, bool, list, tuple, type(None))


def walk(path: str, state: ContextState | Mapping[str, Any]) -> Any:
    """The value at a dot-separated path (``context/variables.py::_resolve_nested``).

    Raises:
        VariableResolveError: a part is missing.
    """
    current: Any = state
    for part in path.split("."):
        current = _step(path, current, part)
    return current


def _step(path: str, current: Any, part: str) -> Any:
    if isinstance(current, (ContextState, dict)):
        value = current.get(part, _MISSING)
        if value is not _MISSING:
            return value
    elif isinstance(current, _Attribute):
        pass
    elif isinstance(current, _PLAIN) or (isinstance(current, type) and current in _PLAIN):
        if hasattr(current, part):
            if part in (_TYPE_PARTS if isinstance(current, type) else _VALUE_PARTS):
                return getattr(current, part)
            return _Attribute(f"<attribute {part!r} of {type(current).__name__}>")
    elif hasattr(current, part):
        return getattr(current, part)
    raise VariableResolveError(f"{path!r} not found at {part!r}")


class DynamicVariableRegistry:
    """Registered variables, and the state behind them (``context/variables.py``)."""

    def __init__(self) -> None:
        self._resolvers: dict[str, Any] = {}

    def register(self, path: str, resolver: Any = None) -> Any:
        """Register a value or a function of the state. ``None`` registers nothing: it gives a decorator."""
        if resolver is not None:
            self._resolvers[path] = resolver
            return resolver

        def decorator(function: Any) -> Any:
            self._resolvers[path] = function
            return function

        return decorator

    def has(self, path: str) -> bool:
        return path in self._resolvers

    def list_all(self) -> list[str]:
        return list(self._resolvers)

    def copy(self) -> DynamicVariableRegistry:
        other = DynamicVariableRegistry()
        other._resolvers = dict(self._resolvers)
        return other

    def value(self, path: str) -> Any:
        """What is registered under exactly this path, ``None`` when nothing is."""
        return self._resolvers.get(path)

    def resolve(self, path: str, state: ContextState | Mapping[str, Any]) -> Any:
        """The registered value, else the value in the state.

        Raises:
            VariableResolveError: neither has it.
        """
        if path in self._resolvers:
            resolver = self._resolvers[path]
            return resolver(state) if callable(resolver) else resolver
        return walk(path, state)

    def replacements(self, template: str, state: ContextState | Mapping[str, Any]) -> list[Replacement]:
        """Every placeholder of a template in order. One pass: what a value holds is not expanded.

        Whatever a resolver raises, other than ``VariableResolveError``, comes through.
        """
        found = []
        for start, end, path in placeholders(template):
            origin: Origin = "registered" if path in self._resolvers else "state"
            try:
                text = str(self.resolve(path, state))
            except VariableResolveError:
                origin, text = "missing", template[start:end]
            found.append(Replacement(start, end, path, origin, text))
        return found

    def resolve_template(self, template: str, state: ContextState | Mapping[str, Any]) -> str:
        """The template with its placeholders replaced; those that lead nowhere stay as typed."""
        return apply(template, self.replacements(template, state))


def apply(template: str, replacements: list[Replacement]) -> str:
    """The template with the replacements made."""
    pieces: list[str] = []
    end = 0
    for entry in replacements:
        pieces += (template[end : entry.start], entry.text)
        end = entry.end
    return "".join([*pieces, template[end:]])


def resolver_from(value: Any) -> Any:
    """A resolver from plain data, as a workspace file writes it.

    ``{static: VALUE}`` is that value, ``{state_key: KEY, default: VALUE}`` reads the state,
    ``{raises: NAME}`` fails the way a function would; anything else is the value itself.
    """
    if not isinstance(value, dict):
        return value
    keys = set(value)
    if keys == {"static"}:
        return value["static"]
    if keys in ({"state_key"}, {"state_key", "default"}) and isinstance(value["state_key"], str):
        return _state_key(value["state_key"], value.get("default"))
    if keys == {"raises"} and isinstance(value["raises"], str):
        return _raising(value["raises"])
    return value


def _state_key(key: str, default: Any) -> Callable[[Any], Any]:
    return lambda state: state.get(key, default)


def _raising(name: str) -> Callable[[Any], Any]:
    def resolver(_state: Any) -> Any:
        if name == VariableResolveError.__name__:
            raise VariableResolveError(name)
        error = getattr(builtins, name, RuntimeError)
        raise error(name) if isinstance(error, type) and issubclass(error, Exception) else RuntimeError(name)

    return resolver
