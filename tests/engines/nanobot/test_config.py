"""config.json: both spellings, presets, fallbacks, and what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptdbg.engines.nanobot.config import Config, read_config


def _config(tmp_path: Path, data: Any, **arguments: Any) -> Config:
    path = tmp_path / "config.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_config(path, environment={}, **arguments)


def test_defaults_without_a_file(tmp_path: Path) -> None:
    config = read_config(tmp_path / "config.json")
    assert (config.context_window, config.max_output, config.tool_result_cap) == (200_000, 8_192, 16_000)
    assert config.notices == ()


@pytest.mark.parametrize("key", ["contextWindowTokens", "context_window_tokens"])
def test_both_spellings_count(tmp_path: Path, key: str) -> None:
    assert _config(tmp_path, {"agents": {"defaults": {key: 50_000}}}).context_window == 50_000


def test_a_preset_replaces_model_window_and_output(tmp_path: Path) -> None:
    data = {
        "modelPresets": {"small": {"model": "m", "maxTokens": 100, "contextWindowTokens": 9_000}},
        "agents": {"defaults": {"modelPreset": "small", "maxTokens": 5, "maxToolResultChars": 7}},
    }
    config = _config(tmp_path, data)
    assert (config.model, config.max_output, config.context_window, config.tool_result_cap) == (
        "m",
        100,
        9_000,
        7,
    )
    assert _config(tmp_path, data, preset="default").max_output == 5


def test_the_window_is_the_least_of_all_fallbacks_and_said_so(tmp_path: Path) -> None:
    data = {
        "modelPresets": {"old": {"model": "o", "contextWindowTokens": 32_000}},
        "agents": {"defaults": {"fallbackModels": ["old", {"model": "x", "provider": "y"}]}},
    }
    config = _config(tmp_path, data)
    assert config.context_window == 32_000
    assert [notice.code for notice in config.notices] == ["config.fallback-window"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"agents": {"defaults": {"maxTokens": "many"}}}, "config.value"),
        ({"agents": []}, "config.value"),
        ({"agents": {"defaults": {"modelPreset": "gone"}}}, "config.preset"),
        ({"agents": {"defaults": {"timezone": "${NOT_SET}"}}}, "config.variable"),
        ({"agents": {"defaults": {"fallbackModels": ["gone"]}}}, "config.fallback"),
    ],
)
def test_what_is_wrong_is_one_notice_and_the_defaults_apply(tmp_path: Path, data: Any, code: str) -> None:
    config = _config(tmp_path, data)
    assert code in [notice.code for notice in config.notices]
    assert config.context_window == 200_000


def test_numbers_may_be_texts_as_pydantic_takes_them(tmp_path: Path) -> None:
    assert _config(tmp_path, {"agents": {"defaults": {"maxTokens": " 77 "}}}).max_output == 77


def test_other_settings(tmp_path: Path) -> None:
    data = {
        "agents": {
            "defaults": {
                "unifiedSession": True,
                "disabledSkills": ["a"],
                "contextBlockLimit": 9,
                "maxMessages": 3,
            }
        },
        "channels": {"extractDocumentText": False},
    }
    config = _config(tmp_path, data)
    assert config.unified_session
    assert config.disabled_skills == ("a",)
    assert (config.block_limit, config.max_messages, config.extract_documents) == (9, 3, False)
