"""The tables of a page: rules, knobs, keys, commands, examples, and what proves the engines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path

from promptdbg.commands import COMMANDS
from promptdbg.commands.engines import versions
from promptdbg.commands.knobs import shown, takes
from promptdbg.commands.parser import load, parser_for
from promptdbg.engines import ENGINE_NAMES, engine
from promptdbg.examples import examples
from promptdbg.tui.keys import PLACE_TITLES, keys_of
from tests.bench import report
from tests.generate.screens import PICTURES

_TABLE = re.compile(
    r"(?P<head>^<!-- table (?P<name>[\w-]+)(?: (?P<argument>[\w-]+))? -->\n).*?^(?P<end><!-- end -->)$",
    re.MULTILINE | re.DOTALL,
)
_ROOT = Path(__file__).parents[2]
_CASES = _ROOT / "tests/cases"


def filled(page: str) -> str:
    """The page with every table made anew."""

    def table(found: re.Match[str]) -> str:
        argument = found["argument"]
        made = TABLES[found["name"]](*([argument] if argument else []))
        return f"{found['head']}{made}{found['end']}"

    return _TABLE.sub(table, page)


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(_cell, row)) + " |\n" for row in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _sentences(title: str, more: str) -> str:
    first = title[:1].upper() + title[1:]
    return f"{first}. {more}" if more else first


def rules(name: str) -> str:
    return _rows(
        ["rule", "what it does", "read from"],
        (
            [
                _code(rule.id),
                _sentences(rule.title, rule.note),
                f"{rule.version}: {_code(rule.source)}",
            ]
            for rule in engine(name).rules
        ),
    )


def knobs(name: str) -> str:
    return _rows(
        ["knob", "what it is", "default", "takes"],
        (
            [_code(knob.name), _sentences(knob.title, knob.help), _code(shown(knob.default)), takes(knob)]
            for knob in engine(name).knobs(None)
        ),
    )


def keys() -> str:
    parts = []
    for place, title in PLACE_TITLES.items():
        rows = ([_keys(key.shown), key.tooltip, _code(key.id)] for key in keys_of(place))
        parts.append(f"### {title}\n\n" + _rows(["key", "what it does", "id"], rows))
    return "\n" + "\n".join(parts) + "\n"


def _keys(names: str) -> str:
    return " ".join(_code(name) for name in names.split())


def commands() -> str:
    return _rows(
        ["command", "what it does"], ([_code(f"promptdbg {name}"), does] for name, does in COMMANDS.items())
    )


def options() -> str:
    """What ``--help`` says of the options that every command has which opens a workspace."""
    parser = parser_for("inspect", load("inspect"))
    common = (
        "--session",
        "--turn",
        "--message",
        "--engine",
        "--now",
        "--trust",
        "--scenario",
        "--set",
        "--off",
        "--tokenizer",
    )
    actions = {action.option_strings[-1]: action for action in parser._actions if action.option_strings}
    return _rows(
        ["option", "what it does"],
        (
            [_code(f"{name} {actions[name].metavar or ''}".strip()), actions[name].help or ""]
            for name in common
        ),
    )


def demos() -> str:
    return _rows(
        ["example", "engine", "the question in it"],
        ([_code(example.name), example.engine, example.question] for example in examples()),
    )


def proof() -> str:
    """Engines with the versions they were read from and how many cases hold them to it."""
    return _rows(
        ["engine", "read from", "rules", "knobs", "reference cases"],
        (
            [
                f"[{entry.title}](docs/engines/{name}.md)",
                ", ".join(versions(entry.rules)),
                f"{len(entry.rules):,}",
                f"{len(entry.knobs(None)):,}",
                f"{len(import_module(f'tests.reference.{name}').collect(_CASES / name)):,}",
            ]
            for name in ENGINE_NAMES
            for entry in [engine(name)]
        ),
    )


def layers() -> str:
    """The layers of the import contract, the topmost first."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    named = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return "```text\n" + "".join(layer.replace("promptdbg.", "") + "\n" for layer in named) + "```\n"


def figures(every: str = "") -> str:
    """The benchmarks as they were last kept: those that the README tells, or every one."""
    machine, day, rows = report.kept()
    results = [row.result for row in rows if every or row.result.told]
    return f"{machine}; {day}.\n\n" + _rows(["measured", "figure", "goal"], map(report.shown, results))


def screens() -> str:
    """Every picture, with what it shows and how to get there."""
    pictures = (
        f"## {picture.shows}\n\n`promptdbg demo {picture.example}`{_pressed(picture.keys)}\n\n"
        f"![{picture.shows}](../screenshots/{picture.name}.svg)\n"
        for picture in PICTURES
    )
    return "\n" + "\n".join(pictures) + "\n"


def _pressed(keys: Sequence[str]) -> str:
    """Keys as a person says them: a run of one is counted, letters in a row are a word."""
    said = []
    for key, run in groupby(keys, key=lambda key: "" if len(key) == 1 else key):
        pressed = list(run)
        if key:
            said.append(_code(_SPOKEN.get(key, key)) + (f" {len(pressed)} times" if len(pressed) > 1 else ""))
        else:
            said += [_code(letter) for letter in pressed]
    return ", then " + " ".join(said) if said else ""


_SPOKEN = {
    "question_mark": "?",
    "exclamation_mark": "!",
    "slash": "/",
    "escape": "esc",
    "right": "→",
    "down": "↓",
    "up": "↑",
}


TABLES: dict[str, Callable[..., str]] = {
    "rules": rules,
    "knobs": knobs,
    "keys": keys,
    "commands": commands,
    "options": options,
    "demos": demos,
    "proof": proof,
    "layers": layers,
    "figures": figures,
    "screens": screens,
}
