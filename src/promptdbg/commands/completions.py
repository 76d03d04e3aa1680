"""Print completions for a shell, made from the commands' own options. bash: to
~/.local/share/bash-completion/completions/promptdbg. zsh: as _promptdbg into a folder on $fpath.
fish: to ~/.config/fish/completions/promptdbg.fish.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from promptdbg.commands import COMMANDS

_OPEN = ""
"""Stands for the command that has no name: to open a workspace."""
_PATHS = ("FILE", "FOLDER", "PATH", "WORKSPACE")


@dataclass(frozen=True, slots=True)
class Argument:
    """An option with its ``names``, or without one what stands at a place of its own.

    ``metavar`` is empty for a flag; ``words`` are all the values there are, empty where any text goes.
    """

    names: tuple[str, ...]
    metavar: str
    words: tuple[str, ...]
    help: str
    repeatable: bool

    @property
    def is_path(self) -> bool:
        return any(kind in self.metavar for kind in _PATHS)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(_SCRIPTS), metavar="SHELL", help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    for line in _SCRIPTS[arguments.shell](interface()):
        print(line)
    return 0


def interface() -> dict[str, list[Argument]]:
    """What every command takes, read off its parser; the empty name is the command without one."""
    from promptdbg.commands.parser import DEFAULT, load, parser_for

    found: dict[str, list[Argument]] = {}
    for name in (_OPEN, *COMMANDS):
        module = name or DEFAULT
        found[name] = [_argument(name, action) for action in parser_for(module, load(module))._actions]
    return found


def _argument(command: str, action: argparse.Action) -> Argument:
    words = tuple(map(str, action.choices or ())) or _known(command, action.dest)
    flag = action.nargs == 0
    return Argument(
        names=tuple(action.option_strings),
        metavar="" if flag else str(action.metavar or action.dest.upper()),
        words=words,
        help=action.help or "",
        repeatable=isinstance(action, argparse._AppendAction),
    )


def _known(command: str, name: str) -> tuple[str, ...]:
    """The values of arguments that are names of ours."""
    from promptdbg.engines import ENGINE_NAMES
    from promptdbg.examples import examples

    if name == "engine":
        return ENGINE_NAMES
    if (command, name) == ("demo", "name"):
        return tuple(example.name for example in examples())
    return ()


def _bash(commands: dict[str, list[Argument]]) -> Iterator[str]:
    yield "_promptdbg() {"
    yield '  local command="" words="" word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}'
    yield "  COMPREPLY=()"
    yield "  if ((COMP_CWORD > 1)); then"
    yield "    case ${COMP_WORDS[1]} in " + "|".join(COMMANDS) + ") command=${COMP_WORDS[1]} ;; esac"
    yield "  fi"
    yield "  # The value of an option; where nothing is offered, bash completes file names."
    yield '  case "$command $before" in'
    for words, options in _values(commands).items():
        yield "    " + "|".join(map(shlex.quote, options)) + f") words={shlex.quote(words)} ;;"
    yield "    *)"
    yield '      case "$command ${word:0:1}" in'
    for name, arguments in commands.items():
        options = [option for argument in arguments for option in argument.names]
        offered = [word for argument in arguments if not argument.names for word in argument.words]
        yield f"        {shlex.quote(f'{name} -')}) words={shlex.quote(' '.join(options))} ;;"
        if offered:
            yield f"        {shlex.quote(f'{name} ')}*) words={shlex.quote(' '.join(offered))} ;;"
    yield f"        *) if ((COMP_CWORD == 1)); then words={shlex.quote(' '.join(COMMANDS))}; fi ;;"
    yield "      esac ;;"
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -F _promptdbg promptdbg"


def _values(commands: dict[str, list[Argument]]) -> dict[str, list[str]]:
    """Every ``COMMAND OPTION`` that takes a value, by the values it offers."""
    found: dict[str, list[str]] = {}
    for name, arguments in commands.items():
        for argument in arguments:
            if argument.metavar:
                options = [f"{name} {option}" for option in argument.names]
                found.setdefault(" ".join(argument.words), []).extend(options)
    return {words: options for words, options in found.items() if options}


def _zsh(commands: dict[str, list[Argument]]) -> Iterator[str]:
    yield "#compdef promptdbg"
    yield "_promptdbg() {"
    yield "  local -a commands=("
    for name, does in COMMANDS.items():
        yield "    " + shlex.quote(f"{name}:{does}")
    yield "  )"
    yield "  if ((CURRENT == 2)); then _describe -t commands command commands; fi"
    yield "  case $words[2] in"
    for name in COMMANDS:
        yield f"    {name}) shift words; ((CURRENT--)); _arguments -s \\"
        yield from _zsh_arguments(commands[name], "      ")
        yield "      ;;"
    yield "    *) _arguments -s \\"
    yield from _zsh_arguments(commands[_OPEN], "      ")
    yield "      ;;"
    yield "  esac"
    yield "}"
    yield '_promptdbg "$@"'


def _zsh_arguments(arguments: list[Argument], indent: str) -> Iterator[str]:
    specs = [spec for argument in arguments for spec in _zsh_specs(argument)]
    for number, spec in enumerate(specs, start=1):
        yield f"{indent}{shlex.quote(spec)}" + (" \\" if number < len(specs) else "")


def _zsh_specs(argument: Argument) -> Iterator[str]:
    action = f"({' '.join(argument.words)})" if argument.words else "_files" if argument.is_path else ""
    name = argument.metavar.replace(":", "\\:")
    if not argument.names:
        yield f":{name}:{action}"
    for option in argument.names:
        star = "*" if argument.repeatable else ""
        text = argument.help
        for character in "\\[]:":
            text = text.replace(character, "\\" + character)
        yield f"{star}{option}[{text}]" + (f":{name}:{action}" if argument.metavar else "")


def _fish(commands: dict[str, list[Argument]]) -> Iterator[str]:
    for name, does in COMMANDS.items():
        yield f"complete -c promptdbg -n __fish_use_subcommand -a {name} -d {_fish_text(does)}"
    for name, arguments in commands.items():
        seen = (
            f"__fish_seen_subcommand_from {name}"
            if name
            else f"not __fish_seen_subcommand_from {' '.join(COMMANDS)}"
        )
        for argument in arguments:
            yield f"complete -c promptdbg -n {_fish_text(seen)}{_fish_argument(argument)}"


def _fish_argument(argument: Argument) -> str:
    written = "".join(
        f" -l {option[2:]}" if option.startswith("--") else f" -s {option[1:]}" for option in argument.names
    )
    if argument.words:
        written += (
            f" -xa {_fish_text(' '.join(argument.words))}"
            if argument.names
            else f" -a {_fish_text(' '.join(argument.words))}"
        )
    elif argument.names and argument.metavar:
        written += " -rF" if argument.is_path else " -x"
    return written + f" -d {_fish_text(argument.help)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
