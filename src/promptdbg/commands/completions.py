"""Print completions for a shell, made from the commands' own options. bash: to
~/.local/share/bash-completion/completions/promptdbg. zsh: as _promptdbg into a folder on $fpath.
fish: to ~/.config/fish/completions/promptdbg.fish.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from promptdbg.commands import COMMANDS

_OPEN = ""
"""Stands for the command that has no name: to open a workspace."""
_PLAIN = re.compile(r"[\w.-]+")
_PATHS = ("FILE", "FOLDER", "PATH", "WORKSPACE")


@dataclass(frozen=True, slots=True)
class Argument:
    """An option with its ``names``, or without one what stands at a place of its own.

    ``metavar`` is empty for a flag; ``words`` are all the values there are, empty where any text goes.
    Words that end in ``=`` are first halves, and ``whole`` those with both halves.
    """

    names: tuple[str, ...]
    metavar: str
    words: tuple[str, ...]
    help: str
    repeatable: bool
    whole: tuple[str, ...] = ()

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
        whole=_assignments()[1] if action.dest == "set" else (),
    )


def _known(command: str, name: str) -> tuple[str, ...]:
    """The values of arguments that are names of ours."""
    from promptdbg.engines import ENGINE_NAMES
    from promptdbg.examples import examples
    from promptdbg.tokens import ENCODINGS

    if name == "engine":
        return ENGINE_NAMES
    if name == "set":
        return _assignments()[0]
    if name == "tokenizer":
        return ENCODINGS
    if (command, name) == ("demo", "name"):
        return tuple(example.name for example in examples())
    return ()


@cache
def _assignments() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``KNOB=`` for the knobs of all engines, and ``KNOB=VALUE`` where the values are few."""
    from promptdbg.engines import ENGINE_NAMES, engine

    names: dict[str, None] = {}
    whole: dict[str, None] = {}
    for name in ENGINE_NAMES:
        for knob in engine(name).knobs(None):
            names[f"{knob.name}="] = None
            values = ("on", "off") if knob.kind == "toggle" else knob.choices
            whole.update((f"{knob.name}={value}", None) for value in values if _PLAIN.fullmatch(value))
    return tuple(sorted(names)), tuple(sorted(whole))


def _bash(commands: dict[str, list[Argument]]) -> Iterator[str]:
    yield "_promptdbg() {"
    yield _BASH_WORDS
    yield "  if ((COMP_CWORD > 1)); then"
    yield "    case ${COMP_WORDS[1]} in " + "|".join(COMMANDS) + ") command=${COMP_WORDS[1]} ;; esac"
    yield "  fi"
    yield "  # The value of an option; where nothing is offered, bash completes file names."
    yield '  case "$command $before" in'
    for (words, whole), options in _values(commands).items():
        yield "    " + "|".join(map(shlex.quote, options)) + f") words={shlex.quote(words)}"
        if whole:
            yield f"      if [[ $half ]]; then words={shlex.quote(whole)}; fi"
        yield "      ;;"
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
    yield '  COMPREPLY=($(compgen -W "$words" -- "$half$word"))'
    yield '  COMPREPLY=("${COMPREPLY[@]#"$half"}")'
    yield "  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi"
    yield "}"
    yield "complete -o default -F _promptdbg promptdbg"


_BASH_WORDS = """\
  local command="" words="" half="" at=$COMP_CWORD
  local word=${COMP_WORDS[at]} before=${COMP_WORDS[at-1]}
  COMPREPLY=()
  # An equals sign is a word of its own to bash: --format=html and KNOB=VALUE come in pieces.
  if [[ $word == "=" ]]; then word="" at=$((at + 1)); fi
  if ((at > 2)) && [[ ${COMP_WORDS[at-1]} == "=" ]]; then
    before=${COMP_WORDS[at-2]}
    if [[ $before != -* ]]; then
      half="$before=" before=${COMP_WORDS[at-3]}
      if ((at > 4)) && [[ $before == "=" ]]; then before=${COMP_WORDS[at-4]}; fi
    fi
  fi"""


def _values(commands: dict[str, list[Argument]]) -> dict[tuple[str, str], list[str]]:
    """Every ``COMMAND OPTION`` that takes a value, by the values it offers: all, or first halves and
    whole ones."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, arguments in commands.items():
        for argument in arguments:
            if argument.metavar:
                options = [f"{name} {option}" for option in argument.names]
                words = " ".join(argument.words), " ".join(argument.whole)
                found.setdefault(words, []).extend(options)
    return {words: options for words, options in found.items() if options}


def _zsh(commands: dict[str, list[Argument]]) -> Iterator[str]:
    yield "#compdef promptdbg"
    names, whole = (" ".join(map(shlex.quote, words)) for words in _assignments())
    yield "_promptdbg_set() {"
    yield f"  local -a names=({names})"
    yield f"  local -a whole=({whole})"
    yield "  if [[ $PREFIX == *=* ]]; then compadd -a whole; else compadd -S '' -a names; fi"
    yield "}"
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
    if argument.whole:
        action = "_promptdbg_set"
    name = argument.metavar.replace(":", "\\:")
    if not argument.names:
        yield f":{name}:{action}"
    for option in argument.names:
        star = "*" if argument.repeatable else ""
        text = argument.help
        for character in "\\[]:":
            text = text.replace(character, "\\" + character)
        value = f":{name}:{action}" if argument.metavar else ""
        also = "=" if value and option.startswith("--") else ""  # --option=value, beside --option value
        yield f"{star}{option}{also}[{text}]{value}"


def _fish(commands: dict[str, list[Argument]]) -> Iterator[str]:
    names, whole = (" ".join(words) for words in _assignments())
    yield "function __promptdbg_set"
    yield "  if string match -q '*=*' -- (commandline -ct)"
    yield f"    string split ' ' -- {_fish_text(whole)}"
    yield "  else"
    yield f"    string split ' ' -- {_fish_text(names)}"
    yield "  end"
    yield "end"
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
        words = "(__promptdbg_set)" if argument.whole else " ".join(argument.words)
        written += f" -{'x' if argument.names else 'f'}a {_fish_text(words)}"
    elif argument.names and argument.metavar:
        written += " -rF" if argument.is_path else " -x"
    return written + f" -d {_fish_text(argument.help)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
