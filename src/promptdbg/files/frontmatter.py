"""YAML front matter: the block between two ``---`` lines at the top of a file.

Values are read as text (no dates, no numbers), because programs differ in what they make of them;
whoever asks converts. An error says the line and column in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from promptdbg.files.yamltext import YamlError, compose
from promptdbg.model import Json


class FrontMatterError(Exception):
    """The header is not YAML, or not a mapping. ``line`` and ``column`` count from 1 in the file."""

    def __init__(self, what: str, line: int, column: int = 1) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as written. ``quoted`` tells ``"5"`` from ``5`` and ``""`` from nothing."""

    text: str
    quoted: bool
    line: int


# A tab between a name and its value is white space to most programs, an error to PyYAML.
_TAB = re.compile(r"^(\w+:)[ \t]*\t[ \t]*", re.MULTILINE)


def parse(header: str, first_line: int = 2) -> dict[str, Json]:
    """The fields of a header whose first line is ``first_line`` of its file.

    Values are ``Scalar``, tuples and dicts of them.

    Raises:
        FrontMatterError: it is not YAML or not a mapping.
    """
    try:
        node = compose(_TAB.sub(r"\1 ", header))
    except YamlError as error:
        raise FrontMatterError(error.what, first_line + (error.line or 1) - 1, error.column or 1) from error
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise FrontMatterError("is not a list of names and values", first_line + node.start_mark.line)
    value = _value(node, first_line, 0)
    assert isinstance(value, dict)
    return value


def _value(node: yaml.Node, first_line: int, depth: int) -> Json:
    line = first_line + node.start_mark.line
    if depth > 20:
        raise FrontMatterError("is nested too deeply", line)
    if isinstance(node, yaml.ScalarNode):
        return Scalar(node.value, node.style is not None, line)
    if isinstance(node, yaml.SequenceNode):
        return tuple(_value(entry, first_line, depth + 1) for entry in node.value)
    fields: dict[str, Json] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise FrontMatterError("has a name that is not a text", line)
        if key.value in fields:
            raise FrontMatterError(f"names {key.value!r} twice", first_line + key.start_mark.line)
        fields[key.value] = _value(value, first_line, depth + 1)
    return fields
