"""Random requests for the prompt engine: sensible ones, and odd ones that JavaScript still takes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_ROLES = ("user", "assistant", "system", "tool", "summary", "error", "thought")
_SYSTEM_TYPES = (
    "system_instruction_addon",
    "behavioral_guidance",
    "task_specific_instruction",
    "error_handling_guidance",
    "ethical_guideline",
    "output_format_spec",
    "reasoning_protocol",
)
_TYPES = (*_SYSTEM_TYPES, "few_shot_example", "user_prompt_augmentation", "domain_context", "Odd_Type")
_MOODS = ("calm", "tense", "")
_WORDS = ("alpha", "beta", "gamma")

# Long texts by repetition: the budget is about lengths, not about what is said.
_CHUNKS = st.sampled_from(("a", "bc ", "日本", "🍵", "x\n", '"', "é"))
texts = st.one_of(
    st.text(max_size=12), st.builds(lambda chunk, count: chunk * count, _CHUNKS, st.integers(0, 900))
)
short = st.text(max_size=6)
numbers = st.one_of(
    st.integers(-5, 200), st.floats(-3, 120, allow_nan=False), st.sampled_from((0, 90, 91, 100))
)
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)


def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value, with keys that JavaScript orders on its own."""
    keys = st.one_of(st.text(max_size=4), st.sampled_from(("0", "7", "10", "01", "length")))
    keys = keys.filter(lambda key: key != "__proto__")
    return st.recursive(
        _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
    )


def _record(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


_calls = st.lists(
    _record(
        {"id": st.sampled_from(("t1", "t2")), "name": short},
        arguments=st.one_of(st.none(), short, st.dictionaries(short, numbers, max_size=2)),
    ),
    max_size=2,
)
_parts = st.lists(
    st.one_of(
        _record({"type": st.just("text"), "text": texts}),
        _record(
            {"type": st.just("image_url")},
            image_url=_record({"url": short}, detail=st.sampled_from(("high", "low"))),
        ),
        _record({"type": st.just("audio")}),
    ),
    max_size=3,
)
_contents = st.one_of(texts, texts, texts, st.none(), _parts, st.dictionaries(short, short, max_size=2))


def _messages() -> st.SearchStrategy[list[dict[str, Any]]]:
    message = _record(
        {"role": st.sampled_from(_ROLES), "content": _contents},
        name=st.one_of(st.none(), short),
        tool_call_id=st.sampled_from(("t1", "t2", "")),
        tool_calls=st.one_of(st.none(), _calls),
        thinkingBlocks=st.just([{"type": "thinking", "thinking": "hm"}]),
    )
    listed = st.lists(message, max_size=9)
    return listed.map(lambda rows: [{"id": f"m{n}", **row} for n, row in enumerate(rows)])


_system = st.lists(_record({"content": texts}, priority=numbers, source=short), max_size=4)
_documents = st.lists(_record({"content": texts}, source=short, relevance=numbers), max_size=4)
_tools = st.lists(
    _record(
        {"id": st.sampled_from(("x", "y", "z"))},
        name=short,
        description=short,
        displayName=short,
        inputSchema=st.sampled_from(({}, {"type": "object"}, None)),
    ),
    max_size=3,
)
_image_data = st.sampled_from(("AA", "http://x/i.png", "data:image/jpeg;base64,QQ"))
_images = st.lists(
    _record(
        {"type": st.sampled_from(("base64", "image_url")), "data": _image_data},
        mimeType=st.sampled_from(("image/webp", "")),
    ),
    max_size=2,
)


def _components() -> st.SearchStrategy[dict[str, Any]]:
    return _record(
        {},
        systemPrompts=_system,
        conversationHistory=_messages(),
        currentTurnMessageCount=st.integers(-1, 4),
        userInput=st.one_of(st.none(), texts),
        retrievedContext=st.one_of(texts, _documents, st.none()),
        tools=_tools,
        visionInputs=_images,
        customComponents=st.just({"few": 1}),
    )


_criteria = _record(
    {},
    mood=st.sampled_from(_MOODS),
    taskHint=st.sampled_from(("alp", "zeta", "")),
    language=st.sampled_from(("en", "de")),
    userSkillLevel=st.sampled_from(("novice", "expert")),
    taskComplexity=st.sampled_from(("low", "high")),
    conversationSignals=st.lists(st.sampled_from(_WORDS), max_size=2),
)
_elements = st.lists(
    _record(
        {"type": st.sampled_from(_TYPES), "content": texts},
        id=short,
        priority=numbers,
        criteria=st.one_of(_criteria, st.just({}), st.none()),
    ),
    max_size=14,
)
_preferences = _record(
    {},
    verbosity=st.sampled_from((" Brief ", "medium", "HIGH", "loud", "")),
    preferredFormat=st.sampled_from((" list ", "", None)),
    responseFormat=st.sampled_from(("table", " ")),
    format=st.sampled_from(("prose", "")),
    preferredFormats=st.lists(st.sampled_from(("a", " b ", "")), max_size=3),
)
_contexts = _record(
    {"activePersona": _record({"id": st.sampled_from(("p", "q"))}, contextualPromptElements=_elements)},
    currentMood=st.sampled_from(_MOODS),
    taskHint=st.sampled_from(("alpha", "the beta", "")),
    language=st.sampled_from(("en", "de")),
    userSkillLevel=st.sampled_from(("novice", "expert")),
    taskComplexity=st.sampled_from(("low", "high")),
    conversationSignals=st.lists(st.sampled_from(_WORDS), max_size=3),
    userPreferences=_preferences,
)
_models = _record(
    {
        "modelId": st.sampled_from(("plain-model", "gpt-4o", "claude-x", "special")),
        "providerId": st.sampled_from(("demo", "anthropic")),
        "maxContextTokens": st.one_of(st.integers(-50, 2000), st.sampled_from((100, 400, 1000))),
        "toolSupport": _record(
            {"supported": st.booleans()},
            format=st.sampled_from(("openai_functions", "anthropic_tools", "none")),
        ),
    },
    optimalContextTokens=st.one_of(st.none(), st.integers(0, 900)),
    promptFormatType=st.sampled_from(("openai_chat", "anthropic_messages", "generic_completion", "")),
    visionSupport=_record({"supported": st.booleans()}),
)
_ids = st.lists(st.sampled_from(("x", "y", "z")), max_size=3)
_manifest = st.dictionaries(
    st.sampled_from(("p", "q")),
    _record(
        {},
        enabledToolIds=_ids,
        disabledToolIds=_ids,
        modelOverrides=st.dictionaries(st.sampled_from(("special", "gpt-4o")), _ids, max_size=1),
    ),
    max_size=2,
)
_configs = _record(
    {},
    performance=st.sampled_from(({"enableCaching": False}, {"enableCaching": True})),
    historyManagement=_record(
        {},
        summarizationTriggerRatio=st.sampled_from((0, 0.8, 1.5)),
        preserveImportantMessages=st.booleans(),
    ),
    toolSchemaManifest=_manifest,
    defaultTemplateName=st.sampled_from(("openai_chat", "generic_completion")),
)
_utilities = _record(
    {
        "historyText": short,
        "historyTokens": st.integers(0, 400),
        "ragText": short,
        "ragTokens": st.integers(0, 300),
    },
    history=st.just("fail"),
    rag=st.just("fail"),
)
_odd: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((None, 0, "", False, True, 7, "text", [], {}, [None], [[]], ["a", "b"], {"length": 40})),
    json_values(),
)
_ODD_PLACES = (
    ("components", "systemPrompts"),
    ("components", "conversationHistory"),
    ("components", "userInput"),
    ("components", "retrievedContext"),
    ("components", "customComponents"),
    ("components", "systemPrompts", 0, "content"),
    ("components", "systemPrompts", 0, "priority"),
    ("components", "systemPrompts", 1, "priority"),
    ("components", "conversationHistory", 0, "content"),
    ("components", "conversationHistory", 0, "role"),
    ("components", "conversationHistory", 0, "tool_calls"),
    ("components", "retrievedContext", 0, "content"),
    ("executionContext", "userPreferences"),
    ("executionContext", "taskHint"),
    ("executionContext", "activePersona", "contextualPromptElements"),
    ("executionContext", "activePersona", "contextualPromptElements", 0, "priority"),
    ("executionContext", "activePersona", "contextualPromptElements", 0, "content"),
    ("executionContext", "activePersona", "contextualPromptElements", 0, "type"),
    ("model", "maxContextTokens"),
    ("model", "optimalContextTokens"),
    ("model", "toolSupport"),
)


@st.composite
def requests(draw: st.DrawFn, odd: bool = False) -> dict[str, Any]:
    """Everything one call needs. ``odd``: one value in it is of an unexpected kind."""
    request: dict[str, Any] = {
        "components": draw(_components()),
        "model": draw(_models),
        "config": draw(_configs),
        "executionContext": draw(st.one_of(st.none(), _contexts)),
        "setCurrentContext": draw(st.booleans()),
        "templateName": draw(
            st.sampled_from((None, None, None, "openai_chat", "google_gemini", "anthropic_messages"))
        ),
        "utility": draw(st.one_of(st.none(), _utilities)),
    }
    if odd:
        _spoil(request, draw(st.sampled_from(_ODD_PLACES)), draw(_odd))
    return request


def _spoil(request: dict[str, Any], place: tuple[str | int, ...], value: Any) -> None:
    """Put the value at the place, if there is such a place."""
    holder: Any = request
    for step in place[:-1]:
        there = isinstance(holder, dict) and step in holder
        there = there or (isinstance(holder, list) and isinstance(step, int) and step < len(holder))
        if not there:
            return
        holder = holder[step]
    if isinstance(holder, dict):
        holder[place[-1]] = value


_trait = st.one_of(st.none(), st.floats(-0.5, 1.5))
_traces = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.uuids().map(str),
            "type": st.sampled_from(("semantic", "episodic", "procedural")),
            "content": texts,
            "createdAt": st.integers(0, 10**10),
            "provenance": st.fixed_dictionaries({"confidence": st.floats(0, 1)}),
            "tags": st.lists(short, max_size=4),
            "associatedTraceIds": st.lists(short, max_size=3),
            "entities": st.lists(short, max_size=4),
            "emotionalContext": st.fixed_dictionaries(
                {"valence": st.floats(-1, 1), "intensity": st.floats(0, 1), "gmiMood": short}
            ),
        },
        optional={"retrievalScore": st.one_of(st.none(), st.floats(0, 2), st.sampled_from((0.125, 0.375)))},
    ),
    max_size=6,
)


def memories() -> st.SearchStrategy[dict[str, Any]]:
    """Inputs of the memory assembler."""
    notes = st.lists(texts, max_size=3)
    return st.fixed_dictionaries(
        {
            "totalTokenBudget": st.one_of(st.integers(0, 2500), st.floats(0, 500)),
            "traits": _record({}, conscientiousness=_trait, openness=_trait, emotionality=_trait),
            "workingMemoryText": texts,
            "persistentMemoryText": texts,
            "retrievedTraces": _traces,
            "prospectiveAlerts": notes,
            "graphContext": notes,
            "observationNotes": notes,
            "allocation": _record(
                {}, workingMemory=st.floats(0, 1), semanticRecall=st.floats(0, 1), persistentMemory=st.just(0)
            ),
        }
    )
