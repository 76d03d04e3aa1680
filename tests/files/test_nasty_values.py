"""Values that a reader's own library stumbles over: one clear line with its place, whatever reads them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import InputError
from promptdbg.files.frontmatter import FrontMatterError, parse
from promptdbg.files.structured import read_structured
from promptdbg.files.tomltext import TomlError, read_toml
from promptdbg.model import Settings
from promptdbg.tui.config import read_config
from promptdbg.tui.save import save_scenario
from tests import invariants

DIGITS = "9" * 5_000
ESCAPES = ['"\\UFFFFFFFF"', '"\\U00110000"']
YAML = [
    *ESCAPES,
    DIGITS,
    f"0x{'f' * 5_000}",
    f"{{a: [0b{'1' * 20_000}]}}",
    '!!int ""',
    "!!int _",
    "!!int x",
    "!!int 0x",
    "!!int [1]",
    "!!bool x",
    "!!float x",
    "!!float ''",
    "!!timestamp x",
    "!!timestamp 2026-99-99",
    "!!binary x",
    "!!python/name:os.system x",
    "!!null {a: 1}",
    "!!set 3",
    "!!omap [1]",
    "!!merge x",
    "{? [a] : 1}",
    "{? {a: 1} : 1}",
    "{<<: 3}",
    "\0",
    "\ud800",
]
TOML = [
    DIGITS,
    f"-{DIGITS}",
    f"[1, {DIGITS}]",
    f"0x{'f' * 5_000}",
    f"{{a = [0b{'1' * 20_000}]}}",
    "2026-99-99",
    '"\\UFFFFFFFF"',
    "[" * 5_000,
]
JSON_LACKS = ["!!timestamp 2026-01-02", "!!binary aGk=", "!!set {a, b}", "!!pairs [a: 1]"]
TAGS = [
    "int",
    "bool",
    "float",
    "timestamp",
    "binary",
    "set",
    "null",
    "seq",
    "map",
    "omap",
    "pairs",
    "str",
    "merge",
]
TAGGED = st.builds("!!{} {}".format, st.sampled_from(TAGS), st.text("0x_:.-+eE\"'[]{}, 1aT", max_size=8))


def _aliases(levels: int, wide: int = 9) -> str:
    """Each level holds the one before so many times: few bytes, very many values."""
    lines = ["a0: &a0 x"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * wide)}]" for n in range(1, levels + 1)]
    return "\n".join(lines)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("value", YAML, ids=range(len(YAML)))
def test_a_yaml_value_that_cannot_be_is_one_line_with_its_place(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(_bytes(f"first: 1\nbad: {value}\n"))
    parsed = read_structured(path)
    if parsed.ok:  # a library may take what another refuses, as long as it is data
        json.dumps(parsed.value)
        return
    (notice,) = parsed.notices
    assert "\n" not in notice.message
    assert len(notice.message) < 200
    assert notice.source is not None
    assert notice.source.start_line == 2


@pytest.mark.parametrize("text", JSON_LACKS)
def test_a_yaml_value_of_a_kind_that_json_lacks_stays_data(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"a: {text}\n")
    parsed = read_structured(path)
    assert parsed.ok
    json.dumps(parsed.value)


@pytest.mark.parametrize(
    ("value", "line"),
    [(DIGITS, 3), (f"[1,\n{DIGITS},\n2]", 4), ("2026-99-99", 3), (f'"{DIGITS}"\nb = 1_{DIGITS}', 4)],
)
def test_a_toml_value_that_cannot_be_has_its_line(value: str, line: int) -> None:
    with pytest.raises(TomlError) as caught:
        read_toml(f'text = """\n{DIGITS}"""\nbad = {value}\nlast = 1\n')
    assert caught.value.line == line


@pytest.mark.parametrize("value", TOML, ids=range(len(TOML)))
def test_a_toml_value_that_cannot_be_is_one_line_in_every_reader(tmp_path: Path, value: str) -> None:
    text = f"first = 1\nbad = {value}\n"
    path = tmp_path / "config.toml"
    path.write_text(text)
    try:
        read_toml(text)
    except TomlError as error:
        what = error.what
    else:
        pytest.fail("it was taken")
    parsed = read_structured(path)
    assert [what in notice.message for notice in parsed.notices] == [True]
    (problem,) = read_config(path).problems
    assert problem.startswith(f"is not TOML: {what}")
    assert "\n" not in problem

    def refused(act: Callable[[], object]) -> None:
        with pytest.raises(InputError) as caught:
            act()
        assert what in str(caught.value)
        assert "\n" not in str(caught.value)

    (tmp_path / "bee.toml").write_text(text)
    refused(lambda: open_workspace(tmp_path, OpenRequest(engine="bee", home=str(tmp_path / "home"))))
    (tmp_path / "promptdbg.toml").write_text(text)
    refused(lambda: open_workspace(tmp_path, OpenRequest(engine="bee", home=str(tmp_path / "home"))))
    refused(lambda: save_scenario(tmp_path, "new", Settings()))


def _refusal(header: str) -> FrontMatterError | None:
    try:
        parse(header)
    except FrontMatterError as error:
        return error
    return None


@pytest.mark.parametrize("value", YAML, ids=range(len(YAML)))
def test_front_matter_that_cannot_be_says_what_it_is(value: str) -> None:
    refusal = _refusal(f"first: 1\nbad: {value}\n")
    if refusal is not None:
        assert "deep" not in refusal.what  # nothing here is nested
        assert "\n" not in refusal.what
        assert refusal.line == 3
    assert refusal is not None or value not in ESCAPES


def test_aliases_that_unfold_into_very_much_are_refused_at_once(tmp_path: Path) -> None:
    text = _aliases(6)
    path = tmp_path / "a.yaml"
    path.write_text(text)
    start = time.process_time()
    assert not read_structured(path).ok
    with pytest.raises(FrontMatterError, match="unfold"):
        parse(text)
    assert time.process_time() - start < 3


@given(value=st.one_of(st.text(max_size=40), TAGGED))
def test_any_value_gives_data_or_one_line(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(_bytes(f"a: {value}"))
    parsed = read_structured(path)
    assert parsed.ok or len(parsed.notices) == 1
    if parsed.ok:
        json.dumps(parsed.value)
    refusal = _refusal(f"a: {value}")
    assert refusal is None or "\n" not in refusal.what


@pytest.mark.parametrize(
    "value", ['!!int ""', "!!bool x", '"\\UFFFFFFFF"', DIGITS, f"0x{'f' * 5_000}"], ids=range(5)
)
@pytest.mark.parametrize(("engine", "name"), [("orbiter", "orbiter.yaml"), ("phronomy", "phronomy.yaml")])
def test_an_engine_with_such_a_value_says_so(tmp_path: Path, engine: str, name: str, value: str) -> None:
    (tmp_path / name).write_text(f"generation: 1\nmodel: {value}\n")
    with pytest.raises(InputError) as caught:
        open_workspace(tmp_path, OpenRequest(engine=engine, home=str(tmp_path / "home")))
    assert str(caught.value).startswith(f"{tmp_path / name}:2: column ")
    assert "correct the file" in str(caught.value)


def test_a_record_of_bee_with_such_a_value_is_a_notice(tmp_path: Path) -> None:
    store = tmp_path / "home" / ".bee" / "store"
    store.mkdir(parents=True)
    (store / "a.md").write_text('---\nname: "\\UFFFFFFFF"\n---\nfact\n')
    (store / "b.md").write_text(f"---\n{_aliases(6)}\n---\nfact\n")
    opened = open_workspace(tmp_path, OpenRequest(engine="bee", home=str(tmp_path / "home")))
    messages = [notice.message for notice in Debugger(opened).assembly.warnings]
    assert any("names no character" in message for message in messages), messages
    assert any("unfold" in message for message in messages), messages


LONG = f"0x{'f' * 5_000}"
DEEP = "[" * 100_000
NANOBOT: list[tuple[str, str]] = [
    ("skills/a/SKILL.md", f"---\ndescription: {LONG}\n---\nbody\n"),
    ("skills/a/SKILL.md", f"---\n? {LONG}\n: 1\n---\nbody\n"),
    ("skills/a/SKILL.md", "---\ndescription: !!int ''\n---\nbody\n"),
    *(
        ("config.json", json.dumps({"agents": {"defaults": {key: value}}}))
        for key in ("maxTokens", "contextWindowTokens", "consolidationRatio", "maxMessages")
        for value in (DIGITS, 10**4_000, float("inf"))
    ),
    ("memory/history.jsonl", f'{{"cursor": {DIGITS}}}\n'),
    ("memory/history.jsonl", f"{DEEP}\n"),
    ("memory/.cursor", DIGITS),
    ("tools.json", DIGITS),
    ("s.jsonl", json.dumps({"role": "user", "content": "x"}) + f"\n{DIGITS}\n"),
    *(
        ("s.jsonl", json.dumps({"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "write_stdin", "arguments": text}}
        ]}) + "\n")
        for text in (DEEP, DIGITS)
    ),
]  # fmt: skip


@pytest.mark.parametrize("dialect", ["main", "0.3.5", "0.2.2"])
@pytest.mark.parametrize(("name", "text"), NANOBOT, ids=range(len(NANOBOT)))
def test_a_file_of_nanobot_with_such_a_value_gives_an_assembly(
    tmp_path: Path, name: str, text: str, dialect: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "s.jsonl").write_text(json.dumps({"role": "user", "content": "x"}) + "\n")
    path.write_text(text)
    (tmp_path / "promptdbg.toml").write_text(
        f'engine = "nanobot"\ndialect = "{dialect}"\npassages = "names"\nsession = "s.jsonl"\n'
    )
    try:
        assembly = Debugger(open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home")))).assembly
    except InputError as error:  # of its own files promptdbg does without none
        told = [error.line()] if name == "tools.json" else []
        if not any("a number has too many digits" in line for line in told):
            raise
        return
    invariants.check(assembly)
    told = [notice.message for notice in assembly.warnings]
    assert all("\n" not in message for message in told)


def test_a_window_that_no_arithmetic_can_take_is_a_wrong_value_of_bee(tmp_path: Path) -> None:
    (tmp_path / "promptdbg.toml").write_text(f'engine = "bee"\ncontext_window = {10**4_000}\n')
    with pytest.raises(InputError, match="too many digits"):
        open_workspace(tmp_path, OpenRequest(home=str(tmp_path / "home")))
