"""Looking for what would keep an item, off the event loop, and the lines that say it.

Every change is found by assembling again (``analysis.fixes``). A search that is not wanted any more
stops before its next assembly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from textual.worker import get_current_worker

from promptdbg.analysis.fixes import Cancelled, Fix, fixes
from promptdbg.debug import Debugger
from promptdbg.errors import PromptdbgError
from promptdbg.model import LOSSES, SectionStatus
from promptdbg.text import one_line, safe
from promptdbg.tui.picture import Picture
from promptdbg.tui.sentences import names
from promptdbg.tui.wrapping import Paragraph, say

FIXES_SHOWN = 9
"""As many as there are digits to try one with."""

LOOKING = (say(("Looking for what would keep it …", "virtual--muted")),)
RECORDING = (
    say(("This is a recording: no change can be tried in it. Open the workspace itself.", "virtual--muted")),
)


def may_be_kept(picture: Picture, item: str) -> bool:
    """Whether there may be changes that keep an item: it is lost, or a rule cut it beside its parts."""
    if item in picture.lost:
        return True
    section = picture.sections.get(item)
    if section is None or section.status not in (SectionStatus.TRUNCATED, SectionStatus.DROPPED):
        return False
    return any(decision.action in LOSSES for decision in picture.decisions.get(item, ()))


async def sought(debugger: Debugger, picture: Picture, item: str) -> tuple[Sequence[Fix], str]:
    """The changes that would keep an item, and what went wrong, if anything did.

    Call it in a worker: the search ends when that is cancelled.
    """
    worker = get_current_worker()
    look = partial(
        fixes,
        debugger.preview,
        picture.assembly.settings,
        picture.knobs,
        item,
        stop=lambda: worker.is_cancelled or worker.is_finished,
    )
    try:
        return (await asyncio.to_thread(look))[:FIXES_SHOWN], ""
    except Cancelled:
        return (), "stopped"
    except PromptdbgError as error:
        return (), error.line()
    except Exception as error:  # a fault of an engine must not take the report away
        return (), f"could not look for changes: {type(error).__name__}: {error}"


def fix_lines(found: Sequence[Fix], problem: str = "", *, keys: bool = True) -> list[Paragraph]:
    """What would keep it, each with what it would push out.

    Args:
        problem: why nothing was found, when the search itself failed.
        keys: a number stands before each, which is the key that tries it.
    """
    if problem:
        return [say((safe(problem, lines=False), "virtual--muted"))]
    if not found:
        return [say("No single change would keep it whole.")]
    lines = [say(("It would be whole if you", "virtual--strong"))]
    for number, fix in enumerate(found, 1):
        mark = (f"{number}  ", "virtual--key") if keys else ("·  ", "virtual--muted")
        lines.append(say(mark, one_line(fix.text), indent=2, hang=3))
        then = f"then lost: {names(fix.pushes_out)}" if fix.pushes_out else "nothing else is lost"
        lines.append(say((then, "virtual--muted"), indent=5))
    if not keys:
        lines.append(say(("enter, then a number, tries one", "virtual--muted"), indent=2))
    return lines
