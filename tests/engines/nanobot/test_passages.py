"""nanobot's own words: templates, an installed copy read as data, and stand-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.engines.nanobot import installed as installed_module
from promptdbg.engines.nanobot.dialects import DIALECTS
from promptdbg.engines.nanobot.installed import Installed, describe, find_installed, installed_prose
from promptdbg.engines.nanobot.passages import Passage
from promptdbg.engines.nanobot.prose import Place, StandInProse, TokenProse, fingerprint
from promptdbg.engines.nanobot.templates import TemplateError, render

_PLACE = Place("/ws", "/ws", "cli", "Linux x86_64, Python 3.11.7", "Linux")


def _render(source: str, **values: str) -> str:
    return render(source, values, lambda name: {"part.md": "included {{ a }}\n"}[name])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x {{ a }} y\n", "x A y"),
        ("{% if a == 'A' %}\nyes\n{% else %}\nno\n{% endif %}\nend\n", "yes\nend"),
        ("{% if a == 'B' or a != 'A' %}\n1\n{% elif b == 'B' %}\n2\n{% endif %}\n", "2\n"),
        ("{% if a == 'B' %}{% if b == 'B' %}in{% else %}{% endif %}{% else %}out{% endif %}", "out"),
        ("  {% if a == b %}\nno\n  {% endif %}\nz", "z"),
        ("keep {% raw %}{a} {{ b }}{% endraw %} it", "keep {a} {{ b }} it"),
        ("[{% include 'part.md' %}]", "[included A]"),
        ("{% include 'part.md' %}\n\n{{ b }}\n", "included A\nB"),
    ],
)
def test_templates_render_as_jinja_does_with_trimmed_blocks(source: str, expected: str) -> None:
    assert _render(source, a="A", b="B") == expected


@pytest.mark.parametrize(
    "source",
    [
        "{{ c }}",
        "{% for x in y %}",
        "{% if a %}x{% endif %}",
        "{% if a == 'A' %}",
        "{% raw %}",
        "{% endif %}",
    ],
)
def test_what_is_not_reproduced_is_refused(source: str) -> None:
    with pytest.raises(TemplateError):
        _render(source, a="A")


def test_includes_that_include_themselves_are_refused() -> None:
    with pytest.raises(TemplateError, match="deeply"):
        render("{% include 'a' %}", {}, lambda name: "{% include 'a' %}")


# ---- an installed copy ---------------------------------------------------------------------------


def _package(root: Path) -> Path:
    """A folder shaped like the package, with invented passages."""
    folder = root / "nanobot"
    for name, text in {
        "templates/agent/identity.md": "On {{ runtime }} in {{ workspace_path }}.\n{{ platform_policy }}\n",
        "templates/agent/platform_policy.md": "{% if system == 'Windows' %}w{% else %}posix\n{% endif %}\n",
        "templates/agent/skills_section.md": "# Mine\n\n{{ skills_summary }}\n",
        "templates/agent/tool_contract.md": "My contract.\n",
        "templates/agent/consolidator_archive.md": "Sum up {{ archive_count }}.\n",
        "templates/AGENTS.md": "\nMy agents.\n",
        "agent/context_governance.py": 'FILL = "my fill"\ndef f(name):\n    return f"gone: {name}!"\n',
        "utils/helpers.py": 'def g(path):\n    return f"head {path}" + " tail"\n',
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _fake_table(dialect: str) -> dict[str, Passage]:
    texts = {
        "tool_contract": "My contract.",
        "backfill": "my fill",
        "compacted:exec": "gone: exec!",
        "persist.head": "head ",
        "persist.more": " never there",
    }
    return {name: Passage(len(text), 1, fingerprint(text)) for name, text in texts.items()}


def test_an_installed_copy_is_read_as_data_and_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_module, "passages", _fake_table)
    prose = installed_prose(Installed(_package(tmp_path), "main"))
    assert prose.fixed("tool_contract") == "My contract."
    assert prose.fixed("backfill") == "my fill"
    assert prose.fixed("persist.head") == "head "
    assert prose.about("compacted", "grep") == "gone: grep!"
    assert prose.identity(_PLACE) == "On Linux x86_64, Python 3.11.7 in /ws.\nposix\n"
    assert prose.skills("- one") == "# Mine\n\n- one"
    assert prose.archive_request(3) == "Sum up 3."
    assert prose.equals("template:AGENTS.md", "My agents.")
    assert prose.missing == ("persist.more",)
    assert "persist.more" in prose.fidelity


def test_a_copy_with_other_words_gives_stand_ins_for_them(tmp_path: Path) -> None:
    prose = installed_prose(Installed(_package(tmp_path), "main"))
    assert prose.fixed("backfill") == StandInProse("main").fixed("backfill")
    assert "backfill" in prose.fidelity


def test_a_copy_is_told_by_its_modules(tmp_path: Path) -> None:
    folder = _package(tmp_path)
    assert describe(folder).dialect == "main"
    assert "0.3.0" in describe(folder).note
    (folder / "session").mkdir()
    (folder / "session" / "manager.py").write_text('_FILE = "workspace-id"')
    assert describe(folder).note == ""
    (folder / "session" / "recovery.py").write_text("")
    assert describe(folder).dialect == "0.3.5"
    (folder / "session" / "recovery.py").unlink()
    (folder / "agent" / "context_governance.py").unlink()
    assert describe(folder).dialect == "0.2.2"


def test_copies_of_uv_and_pipx_are_found(tmp_path: Path) -> None:
    site = (
        tmp_path / ".local" / "share" / "uv" / "tools" / "nanobot-ai" / "lib" / "python3.11" / "site-packages"
    )
    folder = _package(site)
    found = find_installed(tmp_path)
    assert found is not None
    assert found.path == folder


# ---- stand-ins and names -------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_stand_ins_have_every_passage_and_say_what_they_leave_out(dialect: str) -> None:
    prose = StandInProse(dialect)
    for name in prose.table:
        if ":" not in name or name.startswith("template:"):
            assert prose.fixed(name)
    assert "stand-ins" in prose.fidelity
    assert f"{prose.table['tool_contract'].tokens:,}"[0] in prose.fidelity
    assert "exec" in prose.about("compacted", "exec")


def test_names_stand_for_passages() -> None:
    prose = TokenProse()
    assert prose.fixed("backfill") == "{{nanobot:backfill}}"
    assert prose.about("compacted", "exec") == "{{nanobot:compacted:exec}}"
    assert prose.equals("template:AGENTS.md", "{{nanobot:template:AGENTS.md}}")
