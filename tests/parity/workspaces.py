"""Random workspaces and turns for nanobot, in the form of its reference cases."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.parity.sessions import once_in, session_files, texts

PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)


@dataclass(frozen=True)
class Words:
    """What the framework itself writes: its default files by name, and texts it puts into rows."""

    templates: dict[str, str]
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A workspace by file, the session file, the parameters of the turn.

    ``turn`` picks one of the session's own turns, counted round and round; ``None`` is the next one.
    """

    files: dict[str, bytes]
    session: bytes | None
    params: dict[str, Any] = field(default_factory=dict)
    turn: int | None = None


def _skill(name: str) -> st.SearchStrategy[str]:
    heads = st.sampled_from(
        [
            f"---\nname: {name}\ndescription: Does {name} things.\n---\n\nBody of {name}.\n",
            "---\ndescription: two\n  lines\nalways: true\n---\nAlways on.",
            f"---\r\nname: {name}\r\ndescription: carriage\r\n---\r\nBody\r\n",
            "no front matter at all\n",
            "---\n: [broken yaml\n---\nbody",
            '---\nmetadata: \'{"nanobot": {"always": true}}\'\n---\nflat json',
            "---\nmetadata:\n  nanobot:\n    requires:\n      bins: [surely-not-here]\n---\nneeds a program",
            "---\nmetadata:\n  openclaw:\n    requires:\n      env: [PROMPTDBG_NOT_SET]\n---\nno variable",
            "---\n- a list\n---\nbody",
            "---\ndescription: 5\nalways: maybe\n---\n\n\n",
            "---\nnever closed",
        ]
    )
    return heads


@st.composite
def workspaces(draw: st.DrawFn, templates: dict[str, str]) -> dict[str, bytes]:
    """Files of a workspace. ``templates`` are the framework's own defaults by file name."""
    files: dict[str, bytes] = {}
    for name in ("AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"):
        kinds = [st.none(), texts(400), st.sampled_from(["\n \n", "# Rules\r\n\r\nBe brief.\r\n"])]
        kinds += [st.just(f"\n{text}\n\n") for key, text in templates.items() if key.endswith(name)]
        text = draw(st.one_of(*kinds))
        if text is not None:
            files[name] = text.encode("utf-8", "surrogatepass")
            if draw(once_in(120)):
                files[name] += b"\xe9"
    if draw(once_in(3)):
        files["memory/history.jsonl"] = draw(_history())
    if draw(once_in(5)):
        files["memory/.dream_cursor"] = draw(st.sampled_from([b"3", b" 2\n", b"x", b"", b"-1"]))
    if draw(once_in(8)):
        files["memory/.cursor"] = draw(st.sampled_from([b"7", b" 2\n", b"x", b"-3"]))
    for name in ("alpha", "beta", "z-last"):
        if draw(once_in(3)):
            files[f"skills/{name}/SKILL.md"] = draw(_skill(name)).encode()
    if draw(once_in(5)):
        files["pic.png"] = PNG
        files["notes.txt"] = draw(texts(2000)).encode("utf-8", "surrogatepass")
    return files


@st.composite
def _history(draw: st.DrawFn) -> bytes:
    entry = st.fixed_dictionaries(
        {
            "cursor": st.one_of(st.integers(0, 12), st.sampled_from([True, "4", None, -1, 3.0])),
            "timestamp": st.sampled_from(["2026-08-18 10:00", "2026-08-18 10:00", 5]),
            "content": st.one_of(texts(300), texts(9000), st.none()),
        },
        optional={
            "session_key": st.sampled_from(["cli:direct", "telegram:77", None, 5, "cron:x", "dream:y"])
        },
    )
    lines = [json.dumps(one) for one in draw(st.lists(entry, max_size=10))]
    if draw(once_in(6)):
        lines.append(draw(st.sampled_from(["{broken", "[]", ""])))
    return ("\n".join(lines) + draw(st.sampled_from(["\n", "\n", ""]))).encode()


TOOLS = [
    {
        "name": name,
        "description": f"The tool {name}.",
        "parameters": {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]},
    }
    for name in ("exec", "mcp_git_log", "read_file", "notes_add", "grep")
]


REPLY = {"mode": "reply", "text": "They agreed on metric units."}


@st.composite
def params(draw: st.DrawFn) -> dict[str, Any]:
    """The parameters of a turn, as ``params.json`` of a reference case has them."""
    channel, chat = draw(
        st.sampled_from([("cli", "direct"), ("cli", "direct"), ("telegram", "77"), ("email", "a@b")])
    )
    small = draw(once_in(3))
    unified = draw(once_in(8))
    return {
        "session_key": "unified:default" if unified else f"{channel}:{chat}",
        "unified_session": unified,
        "channel": channel,
        "chat_id": chat,
        "current_message": draw(st.one_of(texts(400), st.just("What did we decide?"))),
        "media": draw(st.sampled_from([[], [], [], ["pic.png"], ["missing.png", "notes.txt", "pic.png"]])),
        "now": "2026-08-20T09:30:00",
        "timezone": "UTC",
        "context_window_tokens": draw(
            st.integers(3500, 12_000) if small else st.sampled_from([200_000, 65_536])
        ),
        "max_tokens": draw(st.sampled_from([256, 1000] if small else [8192, 4096])),
        "context_block_limit": draw(st.sampled_from([None, None, None, 3000])),
        "max_tool_result_chars": draw(st.sampled_from([16_000, 16_000, 2_000, 700])),
        "consolidation_ratio": draw(st.sampled_from([0.5, 0.5, 0.2, 0.9])),
        "max_messages": draw(st.sampled_from([120, 120, 6, 15])),
        "disabled_skills": draw(st.sampled_from([[], [], ["alpha"]])),
        "ephemeral": draw(st.sampled_from([False, False, True])),
        "tools": draw(st.sampled_from([[], TOOLS])),
        "tokenizer": draw(st.sampled_from(["cl100k_base"] * 9 + ["unavailable"])),
        "consolidation": draw(st.sampled_from([{"mode": "fail"}, {"mode": "predict"}, REPLY, REPLY])),
        "inflight": draw(_inflight()),
    }


@st.composite
def _inflight(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of the turn itself: whole rounds, as the runner makes them, and injected user rows."""
    if not draw(once_in(5)):
        return []
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 5))):
        ids = [f"r{number}{part}" for part in range(draw(st.integers(1, 2)))]
        name = draw(st.sampled_from(["exec", "read_file", "notes_add"]))
        calls = [
            {"id": i, "type": "function", "function": {"name": name, "arguments": '{"value": "x"}'}}
            for i in ids
        ]
        made.append({"role": "assistant", "content": draw(texts(100)), "tool_calls": calls})
        made.extend(
            {"role": "tool", "tool_call_id": i, "name": name, "content": draw(texts(5000))} for i in ids
        )
        if draw(once_in(6)):
            made.append({"role": "user", "content": draw(texts(60))})
    return made


@st.composite
def examples(draw: st.DrawFn, words: Words) -> Example:
    chosen = draw(params())
    session = draw(session_files(chosen["session_key"], words.phrases))
    turn = draw(st.integers(1, 20)) if draw(once_in(6)) else None
    if session is not None and (b"\\ud83d" in session or b"\xed\xa0\xbd" in session):
        turn = None  # no turn was ever stored after a lone surrogate: saving raises
    return Example(draw(workspaces(words.templates)), session, chosen, turn)
