"""How far into the request each message of the final list stands."""

from __future__ import annotations

from dataclasses import dataclass

from promptdbg.model import Assembly, Message, StageKind


@dataclass(frozen=True, slots=True)
class Room:
    """The final list, with the tokens in front of each of its messages: tool schemas and the messages
    before. ``whole`` is the window, where there is none the request itself."""

    messages: tuple[Message, ...]
    before: tuple[int, ...]
    whole: int
    has_window: bool

    def share(self, tokens: int) -> float:
        """Tokens as a share of the whole."""
        return tokens / self.whole


def final_room(assembly: Assembly) -> Room:
    """What stands where in what the model gets; no messages where there is no final list."""
    final = assembly.stage(StageKind.FINAL)
    messages = final.messages if final else ()
    total = sum(s.tokens for s in assembly.sections if s.place == "tools" and s.parent is None)
    before: list[int] = []
    for message in messages:
        before.append(total)
        total += message.tokens
    window = assembly.budget.window
    return Room(messages, tuple(before), window or total or 1, bool(window))
