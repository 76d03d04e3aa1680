"""Counting tokens, offline: tiktoken's encodings from data that ships with the package. A framework's own
estimator is its engine's.

The only module that imports tiktoken. Nothing here ever opens a network connection: an encoding
whose ranks are neither shipped nor in the user's own cache is refused with a TokenizerError.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from binascii import a2b_base64
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from promptdbg.errors import TokenizerError
from promptdbg.model import TokenizerInfo

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"

SHIPPED_ENCODINGS = Path(__file__).parent / "data" / "tiktoken"
"""The folder with the ranks files that ship with the package, named as tiktoken's cache names them."""


@dataclass(frozen=True, slots=True)
class _Ranks:
    """A ranks file as tiktoken caches it: named by the SHA-1 of its address, checked by SHA-256."""

    file: str
    sha256: str


_CL100K = _Ranks(
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = _Ranks(
    "fb374d419588a4632f3f557e76b4b70aebbca790",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_P50K = _Ranks(
    "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
_R50K = _Ranks(
    "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
)

# The last three serve retired models only; no package carries their data, so they work where the
# user's own cache has it.
_RANKS = {
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
    "cl100k_base": _CL100K,
    "p50k_base": _P50K,
    "p50k_edit": _P50K,
    "r50k_base": _R50K,
}

ENCODINGS = tuple(_RANKS)
"""Every encoding that can work offline, the default first."""


class TokenCounter(Protocol):
    """Anything that counts the tokens of a text."""

    @property
    def info(self) -> TokenizerInfo: ...

    def count(self, text: str) -> int: ...


class Tokenizer:
    """One tiktoken encoding, with a cache by content.

    Every text is plain text: a special-token string such as ``<|endoftext|>`` is counted as the
    characters it is. The ranks are read at the first count, not at construction.
    """

    # Bounded by characters, because one entry may be a whole log: as many as the largest file that
    # is read has, since a session that does not fit is encoded anew for every list it is in. The
    # oldest entries go first.
    _CACHE_CHARS = 256 * 1024 * 1024

    def __init__(self, info: TokenizerInfo, encoding: str) -> None:
        self.info = info
        self.encoding_name = encoding
        self._counts: dict[str, int] = {}
        self._chars = 0
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        known = self._counts.get(text)
        if known is not None:
            return known
        encoding = load_encoding(self.encoding_name)
        number = _encoded(encoding, text)
        with self._lock:
            if text not in self._counts:  # another thread may have been quicker
                self._counts[text] = number
                self._chars += len(text)
            while self._chars > self._CACHE_CHARS and len(self._counts) > 1:
                oldest = next(iter(self._counts))
                del self._counts[oldest]
                self._chars -= len(oldest)
        return number

    def special(self, text: str) -> str | None:
        """The special-token string that ``tiktoken.Encoding.encode`` would refuse ``text`` for.

        ``None`` when it would encode it. Frameworks that call ``encode`` with its defaults fall
        back to another measure there, which is a rule to show.
        """
        if "<|" not in text:  # every special token of every encoding begins so
            return None
        hits = (token for token in load_encoding(self.encoding_name).special_tokens_set if token in text)
        return min(hits, key=text.find, default=None)


# A text is encoded slice by slice, each cut where a pre-token ends whatever stands around it: a
# count stays tiktoken's, and other threads wait no longer than a slice's list of numbers takes to be
# made. The places: before a space that follows anything visible; before white space that follows a
# letter or digit; where a line begins, but with a slash or a blank (see ``count_joined``); between
# letters and digits; before a comma or full stop in Chinese and Japanese. Each pattern begins with what
# is rarest in a text that has no such place, and the number is how far behind its start the place is.
_SLICE = 65_536
_CUTS = (
    (re.compile(r" (?<=\S )"), 0),
    (re.compile(r"\s(?<=[0-9A-Za-z]\s)"), 0),
    (re.compile(r"\n(?=[^\s/])"), 1),
    (re.compile(r"[0-9](?=[A-Za-z])"), 1),
    (re.compile(r"[0-9](?<=[A-Za-z][0-9])"), 0),
    (re.compile("[\u3001\u3002\uff0c](?<=[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff].)"), 0),
)

# tiktoken's pattern engine overflows its stack, and panics, on a run of blanks somewhere between
# half a million and a million, and on a run of anything else it takes some fifty bytes a byte, which
# no machine has for a line of a hundred million letters. A stretch of this many characters without a
# place to cut is counted in blocks, a token or two more for each at most.
_RUN_MAX = 399_999


def _encoded(encoding: Encoding, text: str) -> int:
    total = number = 0
    before = ""
    for piece in _digestible(text):
        if piece != before:  # a line of one character is the same block over and over
            before, number = piece, len(encoding.encode_ordinary(piece))
        total += number
    return total


def _digestible(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > 2 * _SLICE:
        end = _cut(text, start)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int) -> int:
    """Where the slice from ``start`` ends."""
    last = start + _RUN_MAX
    for begin in range(start + _SLICE, min(last, len(text)), _SLICE):
        if place := _place(text, begin, min(begin + _SLICE, last)):
            return place
    if len(text) <= last:
        return len(text)
    # What has no place to cut is to be counted from its own beginning.
    if place := _place(text, start + 1, start + _SLICE, first=False):
        return place
    block = text[start:last]
    digits = len(block) - len(block.rstrip("0123456789"))
    return last - digits % 3  # digits are taken by threes


def _place(text: str, start: int, end: int, *, first: bool = True) -> int:
    """A place to cut at between two others, the first of its kind or the last of all; 0 for none."""
    last = 0
    for pattern, behind in _CUTS:
        for found in pattern.finditer(text, start, end):
            if first:
                return found.start() + behind
            last = max(last, found.start() + behind)
    return last


def count_joined(counter: TokenCounter, pieces: Iterable[str], separator: str = "\n") -> int:
    """Tokens of ``separator.join(pieces)``, counted piece by piece wherever that is exact.

    Exact because a line feed followed by a character that is neither white space nor ``/`` always
    ends a pre-token of the shipped encodings (``o200k_base`` lets a run of punctuation swallow
    line feeds and slashes after it, hence the slash). Other joints are counted as one text.
    """
    total = 0
    run: list[str] = []
    for text in _with_separators(pieces, separator):
        if run and _splits(run[-1], text):
            total += counter.count("".join(run))
            run = []
        run.append(text)
    return total + (counter.count("".join(run)) if run else 0)


_END = 512


def count_ended(counter: Tokenizer, text: str, end: str) -> int:
    """Tokens of ``text + end``; of a text that was counted only the end is encoded anew."""
    place = _place(text, len(text) - _END, len(text), first=False) if len(text) > 2 * _END else 0
    if not place:
        return counter.count(text + end)
    last = text[place:]
    return counter.count(text) - counter.count(last) + counter.count(last + end)


def _with_separators(pieces: Iterable[str], separator: str) -> Iterator[str]:
    before: str | None = None
    for piece in pieces:
        if before is not None and before + separator:
            yield before + separator
        before = piece
    if before:
        yield before


def _splits(left: str, right: str) -> bool:
    first = right[0]
    return left.endswith("\n") and not first.isspace() and first != "/"


_load_lock = threading.Lock()


@cache
def _loaded(name: str) -> Encoding:
    import tiktoken  # 15 ms: only once something is counted

    with _cache_directory(_ranks_directory(name)), _quick_reading():
        return tiktoken.get_encoding(name)


def load_encoding(name: str) -> Encoding:
    """The encoding, read from the user's own cache if it is whole there, else from our data.

    Raises:
        TokenizerError: unknown name, or its data is nowhere on this machine.
    """
    with _load_lock:
        return _loaded(name)


def _ranks_directory(name: str) -> Path:
    ranks = _RANKS.get(name)
    if ranks is None:
        raise TokenizerError(f"unknown encoding {name!r}", hint="one of " + ", ".join(ENCODINGS))
    # tiktoken deletes and downloads again what fails its check, so we check before it looks.
    for directory in (*_user_caches(), SHIPPED_ENCODINGS):
        if _is_whole(directory / ranks.file, ranks.sha256):
            return directory
    raise TokenizerError(
        f"the data of encoding {name} is not on this machine",
        hint="use o200k_base or cl100k_base, or set TIKTOKEN_CACHE_DIR to a folder that has it",
    )


def _is_whole(path: Path, sha256: str) -> bool:
    try:
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:  # no permission: as good as not there
        return False


def _user_caches() -> Iterator[Path]:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if folder := os.environ.get(variable):
            yield Path(folder)


@contextmanager
def _cache_directory(folder: Path) -> Iterator[None]:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


@contextmanager
def _quick_reading() -> Iterator[None]:
    """Let tiktoken take its ranks as ``_ranks`` reads them: half the time of its own way."""
    names = vars(import_module("tiktoken_ext.openai_public"))
    before = names.get(_READER)
    if before is None:  # a tiktoken that is built otherwise reads them itself
        yield
        return
    names[_READER] = _ranks
    try:
        yield
    finally:
        names[_READER] = before


_READER = "load_tiktoken_bpe"


def _ranks(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """What tiktoken's reader of that name gives, made of all lines at once: the file's digest is
    checked, so none of them is broken."""
    from tiktoken.load import read_file_cached

    words = read_file_cached(tiktoken_bpe_file, expected_hash).split()
    tokens, ranks = words[::2], words[1::2]
    count = len(tokens)
    # Lines stand in the order of their ranks, so the last one tells whether a rank is left out.
    numbers = range(count) if int(ranks[-1]) == count - 1 else map(int, ranks)
    return dict(zip(map(a2b_base64, tokens), numbers, strict=True))


@cache
def tokenizer(name: str = DEFAULT_ENCODING) -> Tokenizer:
    """The counter for an encoding or a model name; the same object for the same name.

    A model whose tokenizer is not public, or that nobody mapped, is counted with
    ``DEFAULT_ENCODING``; its ``info`` then is not exact and says so.

    Raises:
        TokenizerError: the encoding is known but its data is not on this machine.
    """
    info, encoding = resolve(name)
    _ranks_directory(encoding)
    return Tokenizer(info, encoding)


def resolve(name: str) -> tuple[TokenizerInfo, str]:
    """How a name of an encoding or a model is counted: what to show, and the encoding to use."""
    if name in _RANKS:
        return TokenizerInfo(name, exact=True), name
    from tiktoken.model import encoding_name_for_model

    # Gateways write "provider/model"; tiktoken knows the model alone.
    for candidate in (name, name.rpartition("/")[2]):
        try:
            encoding = encoding_name_for_model(candidate)
        except KeyError:
            continue
        if encoding in _RANKS:
            return TokenizerInfo(encoding, exact=True, note=f"for model {name}"), encoding
    reason = "is not public" if "claude" in name.lower() else "is not known here"
    note = f"the tokenizer of {name} {reason}; counted with {DEFAULT_ENCODING} instead"
    return TokenizerInfo(DEFAULT_ENCODING, exact=False, note=note), DEFAULT_ENCODING
