"""YAML, bounded, with every way to fail as one error that says where.

PyYAML raises whatever its conversions raise (``!!int ""`` an IndexError, an escape beyond Unicode an
OverflowError), and unfolds a few bytes of aliases into as many values as memory takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from promptdbg.model import Json
from promptdbg.text import position

_EXPANDED_MAX = 300_000  # values after unfolding aliases; more is a "billion laughs" document
_NESTING_MAX = 400


class YamlError(Exception):
    """A text is not YAML. ``line`` and ``column`` count from 1; ``None`` where they are not known."""

    def __init__(self, what: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.column = column


def compose(text: str) -> yaml.Node | None:
    """The document as nodes, ``None`` where it is empty; its aliases unfold into a bounded number.

    Raises:
        YamlError: it is none, or too much.
    """
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line, column = position(text, min(error.position, len(text)))
        what = f"character {ord(text[error.position]):#06x} is not allowed"
        raise YamlError(what, line, column) from error
    except yaml.MarkedYAMLError as error:
        raise _marked(error) from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error
    except (ValueError, OverflowError) as error:
        place = (loader.line + 1, loader.column + 1) if loader else (None, None)
        raise YamlError(_reason(error), *place) from error
    finally:
        if loader is not None:
            loader.dispose()
    if node is not None:
        for number, (_, line) in enumerate(places(node)):
            if number >= _EXPANDED_MAX:
                raise YamlError("its aliases unfold into too many values", line, 1)
    return node


def places(root: yaml.Node) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Every value's path and line, aliases unfolded, without recursion of our own.

    Raises:
        YamlError: it is nested too deeply, as what holds itself is.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while stack:
        keys, node = stack.pop()
        line = node.start_mark.line + 1
        if len(keys) > _NESTING_MAX:
            raise YamlError("nested too deeply", line, 1)
        yield keys, line
        if node.id == "sequence":
            stack += [((*keys, index), child) for index, child in enumerate(node.value)]
        elif node.id == "mapping":
            stack += [((*keys, _key(name)), child) for name, child in node.value]


def value(node: yaml.Node) -> Json:
    """What a composed document stands for; times and bytes stay texts.

    Raises:
        YamlError: a value is not of the kind that it says.
    """
    loader = _Loader("")
    try:
        found: Json = loader.construct_document(node)
        return found
    except yaml.MarkedYAMLError as error:
        raise _marked(error) from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """Safe YAML whose times stay texts, as a configuration file's author typed them."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own, without one
        first: [entry for entry in resolvers if entry[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            found = super().construct_object(node, deep)
            if isinstance(found, int):
                float(found)  # no arithmetic with fractions takes a longer one
            return found
        except (yaml.YAMLError, RecursionError):
            raise
        except Exception as error:  # whatever a conversion raises
            raise yaml.constructor.ConstructorError(
                None, None, _reason(error, node), node.start_mark
            ) from error


def _typed(kind: str) -> None:
    """A kind that JSON lacks: checked, and kept as it was typed."""
    tag = f"tag:yaml.org,2002:{kind}"
    check = yaml.SafeLoader.yaml_constructors[tag]

    def construct(loader: _Loader, node: Any) -> str:
        check(loader, node)
        text: str = node.value
        return text

    _Loader.add_constructor(tag, construct)


def _set(loader: _Loader, node: Any) -> Iterator[Any]:
    """A kind that JSON lacks: names without values, as it is typed."""
    return loader.construct_yaml_map(node)


_typed("timestamp")
_typed("binary")
_Loader.add_constructor("tag:yaml.org,2002:set", _set)


def _marked(error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    what = " ".join((error.problem or error.context or "is not YAML").split())
    return YamlError(what, mark.line + 1, mark.column + 1) if mark else YamlError(what)


def _reason(error: Exception, node: Any = None) -> str:
    if "digits" in str(error) or "to float" in str(error):
        return "a number has too many digits"
    if node is None:
        return "an escape names no character"
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    return f"is no value of the kind {kind}"


def _key(node: Any) -> str:
    return node.value if isinstance(node.value, str) else ""
