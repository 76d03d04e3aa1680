"""``lint``: a message list against what the providers demand of it.

Facts of the public API references (OpenAI chat and Responses, Anthropic Messages), 2026: a call
must be answered in the place they say, ids pair one to one, roles and sizes have limits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from promptdbg.analysis.requests import Entry, Provider, entries
from promptdbg.model import Assembly, Json, Source, Stage, StageKind


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach of a provider's rule.

    ``index`` is the message in the list, ``call`` the tool call's id where it is about one.
    ``repair`` is the smallest change that cures it; nothing applies it. ``item``, ``source`` and
    ``introduced`` (the stage that brought it in) are known where an assembly was checked.
    """

    code: str
    provider: Provider
    index: int
    message: str
    repair: str
    call: str = ""
    item: str = ""
    source: Source | None = None
    introduced: str = ""


@dataclass(frozen=True, slots=True)
class _Limits:
    """Sizes in bytes, as the provider counts them."""

    body: int
    images: int
    image: int


_LIMITS: dict[Provider, _Limits] = {
    "openai-chat": _Limits(body=50_000_000, images=500, image=20_000_000),
    "openai-responses": _Limits(body=50_000_000, images=500, image=20_000_000),
    "anthropic": _Limits(body=32_000_000, images=100, image=5_000_000),
}
_ROLES: dict[Provider, frozenset[str]] = {
    "openai-chat": frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    "openai-responses": frozenset({"system", "developer", "user", "assistant", "tool"}),
    "anthropic": frozenset({"system", "user", "assistant", "tool"}),
}


NOT_KNOWN = (
    "This recording was written without its texts: whether calls and results pair, messages are empty, "
    "roles follow each other or sizes are too large is not known."
)
"""What is said where the texts were left out."""

_WITHOUT_TEXTS = frozenset({"system-in-the-middle", "unknown-role"})
"""What roles alone tell."""


def lint_assembly(assembly: Assembly, provider: Provider) -> tuple[Finding, ...]:
    """The final list's findings, each with its item, its line, and the stage that brought it in. Without
    texts only those that roles alone tell; see ``NOT_KNOWN``."""
    final = assembly.stage(StageKind.FINAL)
    if final is None:
        return ()
    found = lint([message.to_json() for message in final.messages], provider)
    if assembly.without_texts:
        found = tuple(finding for finding in found if finding.code in _WITHOUT_TEXTS)
    earlier = [stage for stage in assembly.stages if stage.kind is not StageKind.FINAL]
    keys = [(stage, _keys(stage, provider)) for stage in earlier] if found else []
    return tuple(_placed(finding, final, keys) for finding in found)


def _keys(stage: Stage, provider: Provider) -> frozenset[tuple[str, str, str]]:
    findings = lint([message.to_json() for message in stage.messages], provider)
    return frozenset(_key(finding, stage) for finding in findings)


def _key(finding: Finding, stage: Stage) -> tuple[str, str, str]:
    item = stage.messages[finding.index].id if 0 <= finding.index < len(stage.messages) else ""
    return finding.code, item, finding.call


def _placed(
    finding: Finding, final: Stage, keys: Sequence[tuple[Stage, frozenset[tuple[str, str, str]]]]
) -> Finding:
    key = _key(finding, final)
    introduced = final.name
    for stage, there in reversed(keys):
        if key not in there:
            break
        introduced = stage.name
    message = final.messages[finding.index] if 0 <= finding.index < len(final.messages) else None
    return replace(
        finding,
        item=message.id if message else "",
        source=message.source if message else None,
        introduced=introduced,
    )


def lint(messages: Sequence[Json], provider: Provider) -> tuple[Finding, ...]:
    """The findings on a list of messages (or Responses items), in the order of the list."""
    listed = entries(messages)
    found = [
        *_Pairing(listed, provider).findings(),
        *_roles(listed, provider),
        *_contents(listed, provider),
        *_sizes(messages, listed, provider),
    ]
    return tuple(sorted(found, key=lambda finding: finding.index))


# ---- calls and results ---------------------------------------------------------------------------


class _Pairing:
    """Walks a list once and pairs each result with the nearest call of its id before it."""

    def __init__(self, listed: Sequence[Entry], provider: Provider) -> None:
        self.listed = listed
        self.provider: Provider = provider
        self.waiting: dict[str, int] = {}  # call id -> position of the message with the call
        self.answered: dict[str, int] = {}
        # others[p]: how many of the first p messages hold no result; a difference of two tells
        # whether anything but results stands between them.
        self.others = [0, *accumulate(0 if entry.results else 1 for entry in listed)]

    def findings(self) -> Iterator[Finding]:
        for position, entry in enumerate(self.listed):
            for call in entry.results:
                yield from self._result(position, call)
            for call in entry.calls:
                yield from self._call(position, call)
        for call, position in self.waiting.items():
            yield self._finding(
                "unanswered-call",
                position,
                "this tool call has no result",
                "add a result with this id after it, or remove the call",
                call,
            )

    def _call(self, position: int, call: str) -> Iterator[Finding]:
        earlier = self.waiting.pop(call, self.answered.get(call))
        if not call:
            yield self._finding(
                "call-without-id", position, "a tool call has no id", "give it an id, and its result the same"
            )
        elif earlier is not None:
            self.answered[call] = position
            yield self._finding(
                "id-used-twice",
                position,
                f"the id of this tool call was used before, in message {earlier}",
                "give the later call and its result an id of their own",
                call,
            )
        else:
            self.waiting[call] = position

    def _result(self, position: int, call: str) -> Iterator[Finding]:
        if call in self.waiting:
            called = self.waiting.pop(call)
            self.answered[call] = called
            if not self._in_place(position, called, call):
                yield self._finding(
                    "misplaced-result",
                    position,
                    f"this result does not follow the message with its call (message {called})",
                    f"move it right after message {called}",
                    call,
                )
        elif call in self.answered:
            yield self._finding(
                "repeated-result",
                position,
                "this tool call already has a result",
                "remove one of the two results",
                call,
            )
        else:
            yield self._finding(
                "orphan-result",
                position,
                "this result answers no call before it",
                "remove it, or put its call back",
                call,
            )

    def _in_place(self, position: int, called: int, call: str) -> bool:
        """Only results may stand between a call's message and its result."""
        if self.provider == "openai-responses":
            return True
        if self.others[position] != self.others[called + 1]:
            return False
        entry = self.listed[position]
        if self.provider == "anthropic" and entry.role != "tool":
            return position == called + 1 and call in entry.results[: entry.leading]
        return True

    def _finding(self, code: str, position: int, message: str, repair: str, call: str = "") -> Finding:
        return Finding(code, self.provider, self.listed[position].index, message, repair, call)


# ---- roles and contents --------------------------------------------------------------------------


def _roles(listed: Sequence[Entry], provider: Provider) -> Iterator[Finding]:
    body = False  # something other than instructions has been seen
    before = ""
    for entry in listed:
        instructs = entry.role in ("system", "developer")
        if instructs and body:
            yield Finding(
                "system-in-the-middle",
                provider,
                entry.index,
                "a system message stands behind the conversation's start",
                "move it to the front, or make it part of a user message",
            )
        elif entry.role not in _ROLES[provider] and entry.role:
            yield Finding(
                "unknown-role",
                provider,
                entry.index,
                f"no provider role {entry.role[:40]!r}",
                "use user, assistant or tool",
            )
        # Results are user messages for Anthropic, and neighbours of either side are fine.
        plain = entry.role in ("user", "assistant") and not entry.results and provider != "openai-responses"
        if plain and entry.role == before:
            yield Finding(
                "roles-in-a-row",
                provider,
                entry.index,
                f"two {entry.role} messages in a row",
                "merge it into the message before: hosted APIs join the two, strict chat templates "
                "refuse them",
            )
        before = entry.role if plain else ""
        body = body or not instructs


def _contents(listed: Sequence[Entry], provider: Provider) -> Iterator[Finding]:
    last_assistant = max((e.index for e in listed if e.role == "assistant"), default=-1)
    for entry in listed:
        final_assistant = entry.role == "assistant" and entry.index == len(listed) - 1
        if entry.hollow and entry.role in ("user", "assistant") and not final_assistant:
            yield Finding(
                "empty-content",
                provider,
                entry.index,
                f"an empty {entry.role} message",
                "remove it, or give it text",
            )
        if entry.empty_thinking and entry.index == last_assistant:
            yield Finding(
                "empty-thinking",
                provider,
                entry.index,
                "a thinking block has a signature but no text, in the latest assistant message",
                "remove the thinking block, or put its text back",
            )


def _sizes(messages: Sequence[Json], listed: Sequence[Entry], provider: Provider) -> Iterator[Finding]:
    limits = _LIMITS[provider]
    images = [(entry.index, image) for entry in listed for image in entry.images]
    for index, image in images:
        if image.size > limits.image:
            yield Finding(
                "image-too-large",
                provider,
                index,
                f"an image of {image.size:,} bytes; the limit is {limits.image:,}",
                "scale it down",
            )
    if len(images) > limits.images:
        yield Finding(
            "too-many-images",
            provider,
            images[limits.images][0],
            f"{len(images)} images; the limit is {limits.images}",
            f"remove {len(images) - limits.images} of them",
        )
    body = len(json.dumps(list(messages), ensure_ascii=False).encode("utf-8", "replace"))
    if body > limits.body:
        largest = max(range(len(messages)), key=lambda i: len(json.dumps(messages[i], ensure_ascii=False)))
        yield Finding(
            "body-too-large",
            provider,
            largest,
            f"the messages are {body:,} bytes; the limit is {limits.body:,}",
            "shorten the largest message, which is this one",
        )
