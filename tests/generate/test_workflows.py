"""What docs/ci-gate.md tells to put into CI is whole, and does what the page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from promptdbg.examples import examples

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci-gate.md").read_text("utf-8")
WORKFLOW, HOOKS = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["check"]["steps"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with an agent's folder in it whose nearest rule is lost."""
    (example,) = (example for example in examples() if example.name == "bee-nearest-rule")
    return Path(shutil.copytree(example.path, tmp_path / "checkout"))


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The line as a step of CI, with the promptdbg that is being tested."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-e", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


def test_the_workflow_has_every_step_of_its_own() -> None:
    (job,) = WORKFLOW["jobs"].values()
    assert WORKFLOW[True] == ["pull_request"]  # "on" is a truth value to YAML 1.1
    assert job["env"]["PROMPTDBG"]
    runs = [step["run"] for step in STEPS if "run" in step]
    assert runs[0] == 'pip install "$PROMPTDBG"'
    assert all(run.startswith("promptdbg ") for run in runs[1:])
    assert all("run" in step or re.fullmatch(r"[\w/-]+@v\d+", step["uses"]) for step in STEPS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are bash's")
def test_its_check_fails_with_the_place_and_passes_when_it_is_put_right(checkout: Path) -> None:
    (line,) = (step["run"] for step in STEPS if step.get("run", "").startswith("promptdbg "))
    upload = STEPS[-1]
    assert in_shell(line, checkout).returncode == 1
    found = json.loads((checkout / upload["with"]["sarif_file"]).read_text("utf-8"))
    places = [result["locations"][0]["physicalLocation"] for result in found["runs"][0]["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"api/AGENTS.md"}
    assert upload["if"] == "always()"  # the findings of a failed check are what is to be uploaded
    wider = line.replace("check .", "check . --set budget=500")
    assert in_shell(wider, checkout).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="the hook is run by bash here")
def test_the_hook_is_the_repositorys_and_fails_too(checkout: Path) -> None:
    (hook,) = HOOKS["repos"][0]["hooks"]
    (defined,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["id"] == defined["id"]
    assert re.search(hook["files"], "api/AGENTS.md")
    assert not re.search(hook["files"], "api/server.py")
    done = in_shell(f"{defined['entry']} {shlex.join(hook['args'])}", checkout)
    assert (done.returncode, done.stderr) == (1, "")
    assert "(api/AGENTS.md:3)" in " ".join(done.stdout.split())
