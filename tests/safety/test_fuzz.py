"""Every loader over mutated inputs: no crash, no hang, and the invariants hold.

``PROMPTDBG_FUZZ`` is the number of inputs (5,000 without it; the long run is 100,000). A seed that
once failed stays in ``SEEDS`` for good.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.errors import PromptdbgError
from promptdbg.tokens import tokenizer
from tests.invariants import check
from tests.steps import steps

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/promptdbg.toml"))
COUNT = int(os.environ.get("PROMPTDBG_FUZZ", "5000"))
BATCHES = 4
STEPS_MAX = 1_000_000
"""Lines of Python for one input; as they are, the largest examples take some 40,000."""

SEEDS: dict[str, list[int]] = {}
"""Seeds that failed once, by example."""

# What breaks readers: structure in the wrong place, numbers where texts are due, odd characters.
BITS = [
    b"null", b"true", b"-1", b"1e999", b"NaN", b"[]", b"{}", b'""', b'"x"', b"[[[[", b"}}}}", b"\\u0000",
    b"\\ud800", b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\r", b"\n", b"\n\n", b"\xe2\x80\xa8", b"\x1b[2J",
    b"---\n", b"@a.md ", b"${a.b}", b"<|endoftext|>", b"9" * 400, b"a" * 5000, b" " * 3000, b"{{x}}", b": ",
    b"- ", b"&a *a", b"!!python/object:os.system", b"../../..", b"/dev/zero", b"%00", b'"role": 3', b"0.1",
]  # fmt: skip


def mutated(data: bytes, random_: random.Random) -> bytes:
    """A few changes of any kind: cut, doubled, swapped, flipped, something put in."""
    for _ in range(random_.randint(1, 4)):
        at = random_.randint(0, len(data))
        end = min(len(data), at + random_.randint(0, 40))
        match random_.randint(0, 7):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:end] + data[at:]
            case 2:
                data = data[:at]
            case 3:
                data = data[:at] + bytes(random_.randbytes(random_.randint(1, 4))) + data[end:]
            case 4:
                lines = data.split(b"\n")
                random_.shuffle(lines)
                data = b"\n".join(lines)
            case 5 if data:
                spot = random_.randrange(len(data))
                data = data[:spot] + bytes([data[spot] ^ (1 << random_.randrange(8))]) + data[spot + 1 :]
            case _:
                data = data[:at] + random_.choice(BITS) + data[end:]
    return data


class Workspace:
    """A copy of an example whose files are changed one or two at a time, and put back."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder / name
        shutil.copytree(EXAMPLES / name, self.folder)
        files = [path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        self.files = {path: path.read_bytes() for path in sorted(files)}

    def try_seed(self, seed: int) -> None:
        random_ = random.Random(seed)
        chosen = random_.sample(list(self.files), min(len(self.files), random_.choice([1, 1, 1, 2])))
        try:
            for path in chosen:
                path.write_bytes(mutated(self.files[path], random_))
            said: list[str] = []
            assert steps(lambda: said.append(self.open())) < STEPS_MAX, f"seed {seed}: too much work"
            assert "\n" not in said[0], f"seed {seed}: an error of more than one line"
        except BaseException as error:
            raise AssertionError(
                f"seed {seed} of {self.folder.name}: {type(error).__name__}: {error}"
            ) from error
        finally:
            for path in chosen:
                path.write_bytes(self.files[path])

    def open(self) -> str:
        """Open and check it; the error a user would see, empty where there is none."""
        try:
            opened = open_workspace(self.folder, OpenRequest(now="2026-03-01T09:30:00"))
            assembly = Debugger(opened, counter=tokenizer("cl100k_base")).assembly
        except PromptdbgError as error:
            return error.line()
        check(assembly)
        return ""


@pytest.mark.timeout(900 if COUNT <= 5000 else 0)
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("name", NAMES)
def test_no_input_crashes_or_hangs(name: str, batch: int, tmp_path: Path) -> None:
    workspace = Workspace(name, tmp_path)
    assert workspace.open() == ""
    each = max(1, COUNT // (len(NAMES) * BATCHES))
    kept = SEEDS.get(name, []) if batch == 0 else []
    for seed in [*kept, *range(batch * each, (batch + 1) * each)]:
        workspace.try_seed(seed)
