"""The part of the Jinja language that nanobot's prompt templates use, rendered without Jinja.

Variables, ``if``/``elif``/``else`` over string comparisons, ``raw`` and ``include``, with block
trimming on as nanobot sets it (``utils/prompt_templates.py::_environment``). Anything else raises,
so that a template of another version is refused rather than rendered almost right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping


class TemplateError(Exception):
    """The template uses something that is not reproduced."""


_TAG = re.compile(r"([ \t]*)\{%\s*(.*?)\s*%\}(\n?)|\{\{\s*(\w+)\s*\}\}", re.DOTALL)
_ENDRAW = re.compile(r"\{%\s*endraw\s*%\}(\n?)")
_OPERAND = re.compile(r"\s*(?:(?P<name>\w+)|'(?P<text>[^']*)')\s*")
_COMPARISON = re.compile(r"^(.+?)\s*(==|!=)\s*(.+)$")
_INCLUDE = re.compile(r"^include\s+'([^']+)'$")

Loader = Callable[[str], str]
"""Gives the source of an included template."""


def render(source: str, values: Mapping[str, str], load: Loader, depth: int = 0) -> str:
    """The template with its variables filled in.

    Raises:
        TemplateError: unknown syntax, an unknown variable, or includes nested too deeply.
    """
    if depth > 8:
        raise TemplateError("includes are nested too deeply")
    out: list[str] = []
    shown = [True]  # one entry per open condition: whether its current branch is taken
    decided: list[bool] = []  # whether some branch was already taken
    for kind, body in _parse(source.removesuffix("\n")):
        if kind == "text":
            if all(shown):
                out.append(body)
        elif kind == "variable":
            if all(shown):
                out.append(_value(body, values))
        else:
            text = _block(body, values, load, shown, decided, depth)
            if text:
                out.append(text)
    if decided:
        raise TemplateError("a condition is not closed")
    return "".join(out)


def _block(
    body: str, values: Mapping[str, str], load: Loader, shown: list[bool], decided: list[bool], depth: int
) -> str:
    word, _, rest = body.partition(" ")
    if word == "if":
        taken = _condition(rest, values)
        shown.append(taken)
        decided.append(taken)
    elif word in ("elif", "else") and decided:
        taken = not decided[-1] and (word == "else" or _condition(rest, values))
        shown[-1] = taken
        decided[-1] = decided[-1] or taken
    elif word == "endif" and decided:
        shown.pop()
        decided.pop()
    elif (included := _INCLUDE.match(body)) is not None:
        return render(load(included[1]), values, load, depth + 1) if all(shown) else ""
    else:
        raise TemplateError(f"unknown block {body!r}")
    return ""


def _parse(source: str) -> Iterator[tuple[str, str]]:
    position = 0
    while (tag := _TAG.search(source, position)) is not None:
        blanks, block, _newline, variable = tag.groups()
        if variable is not None:
            yield "text", source[position : tag.start()]
            yield "variable", variable
            position = tag.end()
            continue
        yield "text", source[position : tag.start()]
        # Blanks before a block go only where they begin the line.
        if blanks and tag.start() > 0 and source[tag.start() - 1] != "\n":
            yield "text", blanks
        position = tag.end()
        if block == "raw":
            end = _ENDRAW.search(source, position)
            if end is None:
                raise TemplateError("raw is not closed")
            yield "text", source[position : end.start()]
            position = end.end()
        else:
            yield "block", block
    yield "text", source[position:]


def _value(name: str, values: Mapping[str, str]) -> str:
    if name not in values:
        raise TemplateError(f"unknown variable {name!r}")
    return values[name]


def _condition(text: str, values: Mapping[str, str]) -> bool:
    return any(_comparison(part, values) for part in text.split(" or "))


def _comparison(text: str, values: Mapping[str, str]) -> bool:
    parts = _COMPARISON.match(text.strip())
    if parts is None:
        raise TemplateError(f"unknown condition {text!r}")
    equal = _operand(parts[1], values) == _operand(parts[3], values)
    return equal if parts[2] == "==" else not equal


def _operand(text: str, values: Mapping[str, str]) -> str:
    match = _OPERAND.fullmatch(text)
    if match is None:
        raise TemplateError(f"unknown operand {text!r}")
    return _value(match["name"], values) if match["name"] is not None else match["text"]
