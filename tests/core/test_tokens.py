"""Counting: offline, exact, robust; and the frameworks' own estimators."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import textwrap
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import Encoding

from promptdbg import tokens
from promptdbg.errors import TokenizerError
from promptdbg.tokens import (
    DEFAULT_ENCODING,
    Tokenizer,
    count_ended,
    count_joined,
    load_encoding,
    resolve,
    tokenizer,
)

SHIPPED = ("o200k_base", "cl100k_base")
DATA = Path(tokens.__file__).parent / "data" / "tiktoken"


def in_a_new_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Encodings are loaded once a process, so what is about loading needs one of its own."""
    kept = {k: v for k, v in os.environ.items() if k not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


NO_NETWORK = """
    import socket
    def refuse(*args, **kwargs):
        raise AssertionError("the network was used")
    socket.socket.connect = refuse
    socket.create_connection = refuse
    socket.getaddrinfo = refuse
"""


# ---- offline ------------------------------------------------------------------------------------


def test_shipped_encodings_count_without_a_network(tmp_path: Path) -> None:
    code = textwrap.dedent(NO_NETWORK) + textwrap.dedent("""
        from promptdbg.tokens import tokenizer
        print(tokenizer("o200k_base").count("hello world"), tokenizer("cl100k_base").count("hello world"))
    """)
    done = in_a_new_process(code, TMPDIR=str(tmp_path))
    assert done.stdout.split() == ["2", "2"], done.stderr
    assert list(tmp_path.iterdir()) == [], "the tokenizer wrote a cache of its own"


@pytest.mark.parametrize("name", ["p50k_base", "p50k_edit", "r50k_base"])
def test_encoding_whose_data_is_nowhere_is_refused_at_once(name: str) -> None:
    code = textwrap.dedent(NO_NETWORK) + textwrap.dedent(f"""
        from promptdbg.errors import TokenizerError
        from promptdbg.tokens import tokenizer
        try:
            tokenizer("{name}")
        except TokenizerError as error:
            print(error.line())
    """)
    done = in_a_new_process(code)
    assert f"encoding {name} is not on this machine" in done.stdout, done.stderr
    assert "TIKTOKEN_CACHE_DIR" in done.stdout


def test_shipped_data_is_what_its_digest_says() -> None:
    for name in SHIPPED:
        ranks = tokens._RANKS[name]
        assert hashlib.sha256((DATA / ranks.file).read_bytes()).hexdigest() == ranks.sha256


@pytest.mark.parametrize("name", SHIPPED)
def test_ranks_are_read_as_tiktoken_reads_them_but_quicker(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiktoken.load import load_tiktoken_bpe
    from tiktoken_ext import openai_public  # type: ignore[import-untyped] # tiktoken has no types for it

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    ranks = tokens._RANKS[name]
    assert tokens._ranks(str(DATA / ranks.file)) == load_tiktoken_bpe(str(DATA / ranks.file))
    assert openai_public.load_tiktoken_bpe is load_tiktoken_bpe, "tiktoken is as it was"
    gap = tmp_path / "gap"
    gap.write_bytes(b"YQ== 0\nYg== 1\nYw== 3\n")
    assert tokens._ranks(str(gap)) == load_tiktoken_bpe(str(gap)) == {b"a": 0, b"b": 1, b"c": 3}
    with tokens._quick_reading():
        assert openai_public.load_tiktoken_bpe is tokens._ranks, "tiktoken has another name for it now"


COUNT = """
    import os, tiktoken.load
    seen = []
    real = tiktoken.load.read_file_cached
    def watched(blobpath, expected_hash=None):
        seen.append(os.environ.get("TIKTOKEN_CACHE_DIR"))
        return real(blobpath, expected_hash)
    tiktoken.load.read_file_cached = watched
    from promptdbg.tokens import tokenizer
    print(tokenizer("cl100k_base").count("hello world"))
    print(seen[0])
    print(os.environ.get("TIKTOKEN_CACHE_DIR"))
"""


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_users_own_cache_wins_when_it_is_whole(tmp_path: Path, variable: str) -> None:
    file = tokens._RANKS["cl100k_base"].file
    (tmp_path / file).write_bytes((DATA / file).read_bytes())
    done = in_a_new_process(COUNT, **{variable: str(tmp_path)})
    number, used, _ = done.stdout.split()
    assert (number, used) == ("2", str(tmp_path)), done.stderr


@pytest.mark.parametrize("content", [b"", b"IQ== 0\n", None], ids=["empty", "cut short", "one byte changed"])
def test_corrupt_cache_is_passed_over_and_left_as_it_is(tmp_path: Path, content: bytes | None) -> None:
    file = tokens._RANKS["cl100k_base"].file
    if content is None:
        content = b"#" + (DATA / file).read_bytes()[1:]
    (tmp_path / file).write_bytes(content)
    done = in_a_new_process(COUNT, TIKTOKEN_CACHE_DIR=str(tmp_path))
    number, used, after = done.stdout.split()
    assert (number, used, after) == ("2", str(DATA), str(tmp_path)), done.stderr
    assert (tmp_path / file).read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_cache_that_is_no_file_or_cannot_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = tokens._RANKS["o200k_base"]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / ranks.file).mkdir()
    assert tokens._ranks_directory("o200k_base") == DATA

    def denied(path: Path) -> bytes:
        raise PermissionError(13, "denied")

    (tmp_path / ranks.file).rmdir()
    (tmp_path / ranks.file).write_bytes(b"x")
    real = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda self: denied(self) if self.parent == tmp_path else real(self)
    )
    assert tokens._ranks_directory("o200k_base") == DATA


def test_unknown_encoding_names_the_known_ones() -> None:
    with pytest.raises(TokenizerError, match="o200k_base, o200k_harmony, cl100k_base"):
        load_encoding("o300k_base")


# ---- counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "a <|fim_prefix|> b", "<|endofprompt|><|endoftext|>", "<|im_start|>user"]
)
def test_special_token_strings_count_as_plain_text(name: str, text: str) -> None:
    encoding = load_encoding(name)
    assert tokenizer(name).count(text) == len(encoding.encode(text, disallowed_special=()))
    assert tokenizer(name).count(text) > text.count("<|")


@pytest.mark.parametrize("name", SHIPPED)
def test_special_names_what_encode_would_refuse(name: str) -> None:
    counter = tokenizer(name)
    for text in ("plain", "<|endoftext|>", "x <|not special|>", "see <|endofprompt|> and <|endoftext|>"):
        try:
            load_encoding(name).encode(text)
            refused = False
        except ValueError:
            refused = True
        assert (counter.special(text) is not None) == refused
    assert counter.special("see <|endofprompt|> and <|endoftext|>") == "<|endofprompt|>"


@pytest.mark.parametrize("name", SHIPPED)
@given(text=st.text())
def test_count_is_tiktokens(name: str, text: str) -> None:
    assert tokenizer(name).count(text) == len(load_encoding(name).encode(text, disallowed_special=()))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00 split"])
def test_lone_surrogates_count(text: str) -> None:
    assert tokenizer().count(text) > 0


BLANKS = ["\u00a0", "\t", "\u2028", " "]


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("blank", BLANKS)
def test_long_runs_of_blanks_neither_panic_nor_hang(name: str, blank: str) -> None:
    counter = Tokenizer(tokenizer(name).info, name)
    per_block = counter.count("x" + blank * 1000)
    # Whatever walks a run once for every blank of it takes far longer than the runner lets a test.
    assert counter.count("x" + blank * 1_200_000 + "y") >= per_block
    # A run just under the block, twice: the search for runs must not begin anew at every blank.
    assert counter.count(blank * 390_000 + "\n" + blank * 390_000 + "x") >= per_block


def test_a_text_is_encoded_slice_by_slice() -> None:
    text = ("    word" * 10 + " " * 100 + "\n") * 5000
    slices = list(tokens._digestible(text))
    assert "".join(slices) == text
    assert len(slices) > 5
    assert max(map(len, slices)) <= 140_000
    text = "a" + " " * 900_000 + "b"
    assert "".join(tokens._digestible(text)) == text
    assert max(map(len, tokens._digestible(text))) <= 399_999


LETTERS = [*"aZéß漢かカ。、，！9٣²½ \t\n\r'/.!?-_#*`("]
LETTERS += ["\u3000", "\u0301", "\x1c", "\x85", "\u00a0", "ſ", "ǅ"]
RUNS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(LETTERS), max_size=12).map("".join),
        st.tuples(st.sampled_from(LETTERS), st.integers(1, 9)).map(lambda run: run[0] * run[1]),
        st.sampled_from(["'s", "'LL", " don't ", "words and ", "0xff", "aGVsbG8=", "//\n/", "\r\n\r\n"]),
        st.text(max_size=4),
    ),
    max_size=40,
).map("".join)


@pytest.mark.parametrize("name", SHIPPED)
@given(text=RUNS)
@settings(max_examples=600)
def test_slices_count_as_the_whole_does(name: str, text: str) -> None:
    """Cut at every place there is, and a count is still tiktoken's."""
    encoding = load_encoding(name)
    cuts = {found.start() + behind for pattern, behind in tokens._CUTS for found in pattern.finditer(text)}
    places = [0, *sorted(cuts), len(text)]
    counts = [len(encoding.encode_ordinary(text[a:b])) for a, b in pairwise(places)]
    assert sum(counts) == len(encoding.encode_ordinary(text))


def _hex(size: int) -> str:
    return random.Random(size).randbytes(size // 2).hex()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("".join(f"line {n} of a log, with words\n" for n in range(20_000)), id="lines"),
        pytest.param(" ".join(f"word{n}" for n in range(60_000)), id="one line"),
        pytest.param(_hex(500_000), id="hex"),
        pytest.param("一行很长的话，没有空格，也没有换行。" * 20_000, id="without blanks"),
        pytest.param("x" * 350_000, id="one word"),
        pytest.param("x " + "9" * 900_000 + "!", id="digits"),
        pytest.param("words and " * 20_000 + "9" * 900_001 + " words" * 20_000, id="digits among words"),
    ],
)
@pytest.mark.parametrize("name", SHIPPED)
def test_long_texts_count_as_tiktoken_counts(name: str, text: str) -> None:
    slices = list(tokens._digestible(text))
    assert "".join(slices) == text
    counted = Tokenizer(tokenizer(name).info, name).count(text)
    assert counted == len(load_encoding(name).encode_ordinary(text))


def test_equal_blocks_are_encoded_once() -> None:
    class Counting:
        def encode_ordinary(self, text: str) -> list[int]:
            asked.append(text)
            return [0] * (len(text) // 100)

    asked: list[str] = []
    blocks = len(list(tokens._digestible("x" * 5_000_000)))
    assert tokens._encoded(Counting(), "x" * 5_000_000) > 12 * 3_999  # type: ignore[arg-type]
    assert blocks > 12
    assert len(asked) == 2


def test_nothing_is_encoded_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Tokenizer(tokenizer().info, DEFAULT_ENCODING)
    first = counter.count("a text that is counted once")

    def fail(name: str) -> object:
        raise AssertionError("encoded again")

    monkeypatch.setattr(tokens, "load_encoding", fail)
    assert counter.count("a text that is " + "counted once") == first


def test_cache_gives_up_its_oldest_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokenizer, "_CACHE_CHARS", 10)
    counter = Tokenizer(tokenizer().info, DEFAULT_ENCODING)
    for text in ("aaaa", "bbbb", "cccc"):
        counter.count(text)
    assert list(counter._counts) == ["bbbb", "cccc"]
    assert counter._chars == 8
    assert counter.count("d" * 50) > 0
    assert list(counter._counts) == ["d" * 50], "one text larger than the cache still counts"


def test_threads_that_count_the_same_text_agree() -> None:
    counter = Tokenizer(tokenizer().info, DEFAULT_ENCODING)
    texts = [f"text number {number}" for number in range(200)]
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append([counter.count(text) for text in texts]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results)
    assert counter._chars == sum(map(len, texts))


# ---- joined counts ------------------------------------------------------------------------------

ATOMS = [*"aZ9 \t\n\r'/.!?-_#*`(", "\r\n", "\n\n", "  ", "//", "!\n", "'s", "'ll", "12345", "word"]
ATOMS += [
    "\u2028",
    "\u00a0",
    "\u0301",
    "é",
    "e\u0301",
    "漢",
    "😀",
    "👩\u200d💻",
    "<|endoftext|>",
    "\x85",
    "\x1c",
]
PIECES = st.lists(st.lists(st.sampled_from(ATOMS), max_size=9).map("".join), max_size=7)


@pytest.mark.parametrize("name", SHIPPED)
@given(pieces=PIECES, separator=st.sampled_from(["\n", "\n\n", "", " ", "\n---\n", "\r\n", "/", "\n/"]))
@settings(max_examples=400)
def test_count_of_joined_pieces_is_the_count_of_the_join(
    name: str, pieces: list[str], separator: str
) -> None:
    whole = len(load_encoding(name).encode_ordinary(separator.join(pieces)))
    assert count_joined(tokenizer(name), pieces, separator) == whole


@pytest.mark.parametrize("name", SHIPPED)
def test_slash_after_punctuation_and_line_feed_is_one_token(name: str) -> None:
    """Why a joint before a slash is not a boundary: the pattern of o200k_base runs over it."""
    pieces = ["see:", "//path", "/more"]
    assert count_joined(tokenizer(name), pieces) == tokenizer(name).count("see:\n//path\n/more")


@pytest.mark.parametrize("name", SHIPPED)
@given(text=RUNS, last=RUNS, end=st.sampled_from(["\n", "\n\n", "\n/", " ", "s", "!"]))
def test_count_of_a_text_with_an_end(name: str, text: str, last: str, end: str) -> None:
    long = text + " and words between" * 70 + last
    whole = len(load_encoding(name).encode_ordinary(long + end))
    assert count_ended(tokenizer(name), long, end) == whole


def test_of_a_text_that_was_counted_only_the_end_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Tokenizer(tokenizer().info, DEFAULT_ENCODING)
    text = "some words " * 1_000
    asked: list[str] = []
    encoded = tokens._encoded

    def noting(encoding: Encoding, text: str) -> int:
        asked.append(text)
        return encoded(encoding, text)

    counter.count(text)
    monkeypatch.setattr(tokens, "_encoded", noting)
    assert count_ended(counter, text, "\n\n") > 1_000
    assert sum(map(len, asked)) < 2_000


def test_joined_counts_count_piece_by_piece() -> None:
    class Noting(Tokenizer):
        def count(self, text: str) -> int:
            asked.append(text)
            return super().count(text)

    asked: list[str] = []
    counter = Noting(tokenizer().info, DEFAULT_ENCODING)
    assert count_joined(counter, ["one", "two", " three", "four"]) == tokenizer().count(
        "one\ntwo\n three\nfour"
    )
    assert asked == ["one\n", "two\n three\n", "four"]


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "encoding", "exact"),
    [
        ("o200k_base", "o200k_base", True),
        ("gpt-4o", "o200k_base", True),
        ("gpt-4o-mini-2024-07-18", "o200k_base", True),
        ("openai/gpt-4o", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-3.5-turbo-0125", "cl100k_base", True),
        ("text-embedding-3-small", "cl100k_base", True),
        ("claude-sonnet-4", "o200k_base", False),
        ("anthropic/claude-3-opus", "o200k_base", False),
        ("some-model-of-tomorrow", "o200k_base", False),
        ("gpt2", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_names_resolve(name: str, encoding: str, exact: bool) -> None:
    info, found = resolve(name)
    assert (found, info.name, info.exact) == (encoding, encoding, exact)
    if not exact:
        assert f"tokenizer of {name}" in info.note
        assert encoding in info.note


def test_claude_is_said_to_be_not_public() -> None:
    assert "is not public" in resolve("claude-opus-4")[0].note
    assert "is not known here" in resolve("mystery")[0].note


def test_same_name_same_counter() -> None:
    assert tokenizer("gpt-4o") is tokenizer("gpt-4o")


def test_blocked_sockets_are_really_blocked() -> None:
    """The guard of the offline tests works: with it a connection is an error."""
    done = in_a_new_process(
        textwrap.dedent(NO_NETWORK) + "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')"
    )
    assert done.returncode != 0
    assert "the network was used" in done.stderr
