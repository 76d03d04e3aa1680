"""Sizes and fingerprints of nanobot's own passages, per dialect; the passages themselves are not here.

They tell a template-equal file from a changed one, prove that a passage found in an installed copy is
the one this dialect sends, and say what a stand-in leaves out. Tokens are cl100k_base.
"""

from __future__ import annotations

from typing import NamedTuple


class Passage(NamedTuple):
    """A fixed text: code points, tokens, SHA-256 of its UTF-8."""

    chars: int
    tokens: int
    sha256: str


_PASSAGES: tuple[tuple[str, tuple[str, ...], Passage], ...] = (
    (
        "template:AGENTS.md",
        ("main", "0.3.5"),
        Passage(1938, 413, "b5d3a9f71da9ae2f28a431ed3edb32a622b56d9b7501aa8ae75dad87ea692dfd"),
    ),
    (
        "template:AGENTS.md",
        ("0.2.2",),
        Passage(1563, 339, "61b941bbfc6b64948fcaf367c261f0c3e000bf1f645d8626b9edaaf7830cf73c"),
    ),
    (
        "template:USER.md",
        ("main", "0.3.5", "0.2.2"),
        Passage(841, 202, "4a69b5be617ad5a182d7411d76e3c42ed6483e3c737308f481d64c6e3ccc89c1"),
    ),
    (
        "template:SOUL.md",
        ("main", "0.3.5"),
        Passage(404, 97, "0351091f89de5e7162f4883af295fe0af039c3f78f93cb1232e9aa7dcb49cf6f"),
    ),
    (
        "template:SOUL.md",
        ("0.2.2",),
        Passage(998, 221, "6c43514d333c982fd9273955d37029b92d1bf675c9cea7d8403554f3cda3ad52"),
    ),
    (
        "template:legacy/SOUL.md",
        ("main", "0.3.5"),
        Passage(795, 178, "34cb8ffca9dcb097be57e03b39a1570b9adecd3f4c2101720fe9827b62e1b1d9"),
    ),
    (
        "template:memory/MEMORY.md",
        ("main", "0.3.5", "0.2.2"),
        Passage(407, 72, "d22710640c228b702c0d8d36196040ed56a734c13ca69afd14cb5888c894bb76"),
    ),
    (
        "tool_contract",
        ("main",),
        Passage(6270, 1322, "5bcc901f0df4fc2d7d3c784d25a61253c6c518278ebea63cadbdc60eb242e31c"),
    ),
    (
        "tool_contract",
        ("0.3.5",),
        Passage(5447, 1146, "19f57910c7ba76ed59ba6cb6088c015215dc6ea19e30f178bf0ed99b37bf39ce"),
    ),
    (
        "tool_contract",
        ("0.2.2",),
        Passage(4722, 1018, "7b0ca76d2b9c767aad79c9dcc660b28dc85f5a3a8c637a000dca949bc3425255"),
    ),
    (
        "skills_intro",
        ("main", "0.3.5"),
        Passage(147, 30, "3a81e3b1ad90e1dacf244d3c600f4587b9632c0aa9e42bec7a7bbab9db9091c2"),
    ),
    (
        "skills_intro",
        ("0.2.2",),
        Passage(221, 44, "4524773f6801bb884923441429d22c61a9387eb6d15425458b0843772a730cd0"),
    ),
    (
        "backfill",
        ("main", "0.3.5", "0.2.2"),
        Passage(56, 11, "190244af4947e1fbacd3bfd3c45554827aa9f964be34415d0bdbe986cd12c2e5"),
    ),
    (
        "placeholder_assistant",
        ("main", "0.3.5", "0.2.2"),
        Passage(37, 6, "dd708ab82e64a4fcd0a296493a45ffc35fb8d789f99fa3810665d6a7d1a62699"),
    ),
    (
        "compacted:read_file",
        ("main",),
        Passage(270, 58, "caf6d50eb3fb036607aa53956418d975c1a2197698bd2b88ff9ab73c0ac4beeb"),
    ),
    (
        "compacted:exec",
        ("main",),
        Passage(265, 57, "ab54a85be06a9163827abc35e0865d45a30442fecf0fd61ba28d9cf3923d7241"),
    ),
    (
        "compacted:grep",
        ("main",),
        Passage(265, 57, "b26509d78cff001f5a767a059e2b42a39668cd0c86c02ff2a4cf2ef7469ee323"),
    ),
    (
        "compacted:find_files",
        ("main",),
        Passage(271, 58, "2eae8027d9b8489378b0d6b0d40e468ad5f57547696ad1098a0f6cf53699ff0d"),
    ),
    (
        "compacted:web_search",
        ("main",),
        Passage(271, 58, "b4ac4fd156d099569b496be633953345f53cc2474c6e62e3a71095f38f05f85f"),
    ),
    (
        "compacted:web_fetch",
        ("main",),
        Passage(270, 58, "f1a726f9f04e18d27be4d84af3688fac9e89fdff7d3cc468ac60dcf03b80f5b8"),
    ),
    (
        "compacted:list_dir",
        ("main",),
        Passage(269, 58, "0b85304e9155b3f7eb16c8e833019254dad2779431c013031a2343e53f85311e"),
    ),
    (
        "compacted:list_exec_sessions",
        ("main",),
        Passage(279, 59, "e2d47fe12279b7cd8fa0a67ef2eb9ae108e795a8f36bf34109d080d9f87db87c"),
    ),
    (
        "persist.head",
        ("main", "0.2.2"),
        Passage(46, 11, "5da66cc6621bbd63ae50833af20213d45a36c14b48029bae2fa9bf49d8c680e8"),
    ),
    (
        "persist.head",
        ("0.3.5",),
        Passage(61, 13, "14674838d3b57b57088c1942a25e184fb4e793605065ea413bc341e82dd6f5a2"),
    ),
    (
        "persist.size",
        ("main", "0.3.5", "0.2.2"),
        Passage(16, 5, "4a39fcedf741c948180e2d1c8b2c497ba1648716cb7a2fd7a478c96b6743344d"),
    ),
    (
        "persist.preview",
        ("main", "0.3.5", "0.2.2"),
        Passage(16, 4, "bea6e11ae7f22e87983ad1c61a1e30ccf3a4240896e293abb11a305e94275689"),
    ),
    (
        "persist.more",
        ("main", "0.2.2"),
        Passage(55, 14, "216ec98310a291257ec642ad6ff1a6bf8470114c9a7ffc21d5d39d1f7f2cbd3f"),
    ),
    (
        "persist.more",
        ("0.3.5",),
        Passage(102, 21, "8b78cedf628bc1a52b4facf17397e135b3f4a6d1dd1f29e308ed3d9a89a10e3b"),
    ),
    (
        "empty_result:exec",
        ("main", "0.3.5", "0.2.2"),
        Passage(31, 6, "f11b4ee980249b1abc18f4b7a5482fd4b60b4d399686e43add0e472c2255067b"),
    ),
    (
        "empty_result:grep",
        ("main", "0.3.5", "0.2.2"),
        Passage(31, 7, "fbe4a3ebbfd9ab08844ad9fb01551ff7e3549d14cd7cdb90c4132ad5c6806501"),
    ),
    (
        "empty_result:web_fetch",
        ("main", "0.3.5", "0.2.2"),
        Passage(36, 7, "c4b94cb2bb0beff44d8ac8fa5ecb788fe58682ff154361b86f536ed5232dc93b"),
    ),
    (
        "empty_result:list_dir",
        ("main", "0.3.5", "0.2.2"),
        Passage(35, 7, "5f00450c49ea3fdf45ae40cf279940edf801ebb06282810d6692cd54350400a4"),
    ),
    (
        "empty_result:tool",
        ("main", "0.3.5", "0.2.2"),
        Passage(31, 6, "f409713809f770204b2d058829f48b347b6b474951f5ef95a760015fb3c2c792"),
    ),
    (
        "empty_result:read_file",
        ("main", "0.3.5", "0.2.2"),
        Passage(36, 7, "f9e51d908dea94bc36d53bd1101e98f9d7a720e7289b6b0cd5859725cc2d1034"),
    ),
    (
        "empty_result:notes_add",
        ("main", "0.3.5", "0.2.2"),
        Passage(36, 8, "e179cb35f810774206afd6a84d26d3e95b53eb49cee6c8cb858c40a7df5b6791"),
    ),
    (
        "interrupted_tool",
        ("main", "0.3.5", "0.2.2"),
        Passage(50, 9, "e559fe4c11544b14b99d1a37c63714b34a1726a70d48ba435488f3a600741e49"),
    ),
    (
        "interrupted_turn",
        ("main", "0.3.5", "0.2.2"),
        Passage(56, 10, "288a4864547a207267486320ce2935516c6a34d916c569015a5833f1f9a52431"),
    ),
    (
        "summary_continuation",
        ("main", "0.3.5", "0.2.2"),
        Passage(66, 11, "d2bdf513aeb80ec2589f175de050c8f53a0439b8948e70ad4f6c376a1999488b"),
    ),
    (
        "persist.tail",
        ("0.3.5",),
        Passage(71, 15, "ea8528151f005f58958b6376bf8637f63319c451233c0a3081b741fc7d25d81a"),
    ),
    (
        "current_project_hint",
        ("0.3.5",),
        Passage(69, 14, "5a97332287e647019fa2d9b3c49508dee73d6ef6887582314f2e026fecfed2b6"),
    ),
)


def passages(dialect: str) -> dict[str, Passage]:
    """The fixed passages of a dialect by name (``tool_contract``, ``template:SOUL.md`` …)."""
    return {name: passage for name, dialects, passage in _PASSAGES if dialect in dialects}
