"""One turn, run by nanobot's own AgentLoop up to the last request it would send to a model."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

from . import clock, redirect
from .framework import Framework, Sent


def run(framework: Framework, request: dict[str, Any]) -> dict[str, Any]:
    """Run the turn that ``request`` describes; ``main.py`` has the keys of both documents."""
    redirect.place([(shown, copy) for shown, copy in request.get("redirect", [])])
    clock.freeze(request.get("now"))
    framework.use_tokenizer(request.get("tokenizer", "cl100k_base"))
    framework.skills.shutil.which = _which(request.get("bins"))
    framework.sort_skills = request.get("skill_order") == "name"
    environment = _set(request.get("env", {}))
    turn = _Turn(framework, request)
    try:
        asyncio.run(turn.process())
    except Sent:
        pass
    except Exception as error:
        turn.failure = _failure(error)
    finally:
        framework.recorder.listening = False
        framework.skills.shutil.which = _real_which
        os.environ.clear()
        os.environ.update(environment)
        redirect.place([])
    return turn.report()


class _Turn:
    def __init__(self, framework: Framework, request: dict[str, Any]) -> None:
        self.framework = framework
        self.request = request
        self.recorder = framework.recorder
        self.recorder.begin()
        self.rounds: list[list[dict[str, Any]]] = request.get("inflight", [])
        self.requests = 0
        self.summaries = 0
        self.archiving = False
        self.probing = False
        self.failure: dict[str, Any] | None = None
        self.handled: str | None = None
        self.live: list[Any] = []
        self.spec: Any = None
        self.stored: dict[str, Any] | None = None
        self.restored: dict[str, Any] | None = None
        self.history: str | None = None
        self.probe: Any = None
        self.sent: dict[str, Any] | None = None

    async def process(self) -> None:
        fw, request = self.framework, self.request
        provider = fw.provider(self._answer, request["max_tokens"])
        registry = fw.tool_registry(request.get("tools", []))
        definitions = registry.get_definitions()
        self.recorder.measure = lambda messages: fw.measure(provider, definitions, messages)
        manager = self._sessions()
        session = manager.get_or_create(request["session_key"])
        if not request.get("persist", True) and hasattr(fw.sessions, "SessionPolicy"):
            session.policy = fw.sessions.SessionPolicy(persist=False)
        self.stored = _session(session)
        self.loop = loop = self._loop(provider, registry, manager)
        if not request.get("consolidate", True):
            _only_probe(loop.consolidator, swallow=fw.dialect == "0.2.2")
        self._watch_history(session)
        self._watch_archiver(loop)
        self._watch_runner(loop)
        message = fw.events.InboundMessage(
            channel=request["channel"],
            sender_id=request["sender_id"],
            chat_id=request["chat_id"],
            content=request["message"],
            media=list(request.get("media", [])),
        )
        named: dict[str, Any] = {
            "session_key": request["session_key"],
            "ephemeral": bool(request.get("ephemeral", False)),
        }
        if _is_new(fw):
            # The session may pin a model preset of a configuration that is not here; the window
            # and the answer's share come from the request instead.
            named["runtime"] = loop.llm_runtime()
        outbound = await loop._process_message(message, **named)
        self.handled = str(getattr(outbound, "content", "") or "")

    def report(self) -> dict[str, Any]:
        recorder = self.recorder
        return {
            "stored": self.stored,
            "restored": self.restored,
            "history": self.history,
            "probe": list(self.probe) if self.probe else None,
            "initial": recorder.first,
            "given": recorder.given,
            "steps": recorder.steps,
            "sent": self.sent,
            "requests": self.requests,
            "summaries": self.summaries,
            "failure": self.failure,
            "handled": self.handled,
        }

    def _sessions(self) -> Any:
        """nanobot's session manager, with the stored session where it will look for it."""
        request, manager_class = self.request, self.framework.sessions.SessionManager
        workspace = Path(request["workspace"])
        if hasattr(self.framework.sessions, "JsonlSessionStore"):
            manager = manager_class(workspace, sessions_root=Path(request["root"]) / "sessions")
        else:
            manager = manager_class(workspace)
        target = manager._get_session_path(request["session_key"])
        _put(request.get("session_file"), target)
        if hasattr(manager, "_get_runtime_checkpoint_path"):
            sidecar = manager._get_runtime_checkpoint_path(request["session_key"])
            _put(request.get("session_sidecar"), sidecar)
        return manager

    def _loop(self, provider: Any, registry: Any, manager: Any) -> Any:
        fw, request = self.framework, self.request

        class Loop(fw.loop.AgentLoop):  # type: ignore[misc,name-defined]
            def _register_default_tools(self, **named: Any) -> None:
                """The tools are those of the request."""

        named: dict[str, Any] = {
            "bus": fw.bus.MessageBus(),
            "provider": provider,
            "workspace": Path(request["workspace"]),
            "model": "stub/model",
            "max_iterations": 1 << 20,
            "context_window_tokens": request["context_window_tokens"],
            "max_tool_result_chars": request["max_tool_result_chars"],
            "session_manager": manager,
            "timezone": request.get("timezone"),
            "unified_session": bool(request.get("unified_session", False)),
            "disabled_skills": list(request.get("disabled_skills", [])),
            "tool_registry": registry,
            "context_block_limit": request.get("context_block_limit"),
            "consolidation_ratio": request.get("consolidation_ratio", 0.5),
            "max_messages": request.get("max_messages", 120),
            "channels_config": fw.channels(extract_documents=request.get("extract_documents", True)),
        }
        known = _parameters(fw.loop.AgentLoop.__init__)
        loop = Loop(**{name: value for name, value in named.items() if name in known})
        if "tool_registry" not in known:
            for name in registry._tools:
                loop.tools.register(registry.get(name))
        if not request.get("builtin_skills", True):
            loop.context.skills.builtin_skills = None
        for block in request.get("runtime_context_blocks", []):
            if hasattr(loop, "register_runtime_context_provider"):
                loop.register_runtime_context_provider(_block_provider(fw, block))
        return loop

    def _watch_history(self, session: Any) -> None:
        """Note the session each time the turn asks for its replay; archiving and its probe do too."""
        real = session.get_history

        def noted(*arguments: Any, **named: Any) -> Any:
            rows = _session(session)
            result = real(*arguments, **named)
            if not self.archiving and not self.probing and self.requests == 0:
                self.restored, self.history = rows, json.dumps(result, default=str)
            return result

        session.get_history = noted

    def _watch_archiver(self, loop: Any) -> None:
        """Tell requests that summarise from those of the turn, and note the probe."""
        consolidator = loop.consolidator
        owner = getattr(consolidator, "archiver", consolidator)
        real = owner.archive

        async def noted(*arguments: Any, **named: Any) -> Any:
            self.archiving = True
            try:
                return await real(*arguments, **named)
            finally:
                self.archiving = False

        owner.archive = noted
        estimate = consolidator.estimate_session_prompt_tokens

        def probed(*arguments: Any, **named: Any) -> Any:
            self.probing = True
            try:
                result = estimate(*arguments, **named)
            finally:
                self.probing = False
            self.probe = self.probe or result
            return result

        consolidator.estimate_session_prompt_tokens = probed

    def _watch_runner(self, loop: Any) -> None:
        """Note the runner's own list of rows, and listen to its governance only."""
        runner = loop.runner
        real_core, real_request = runner._run_core, runner._request_model

        async def core(*arguments: Any, **named: Any) -> Any:
            self.recorder.listening = True
            return await real_core(*arguments, **named)

        async def request_model(spec: Any, messages: list[Any], hook: Any, context: Any, **named: Any) -> Any:
            self.spec, self.live = spec, context.messages
            return await real_request(spec, messages, hook, context, **named)

        runner._run_core = core
        runner._request_model = request_model
        self._watch_sent(loop)

    def _watch_sent(self, loop: Any) -> None:
        """Note what reaches the provider."""
        provider = loop.provider
        for name in ("chat_with_retry", "chat_stream_with_retry"):
            real = getattr(provider, name)

            async def noted(*arguments: Any, _real: Any = real, **named: Any) -> Any:
                if not self.archiving:
                    self.sent = self.recorder.snapshot(named["messages"])
                return await _real(*arguments, **named)

            setattr(provider, name, noted)

    def _answer(self) -> Any:
        response = self.framework.providers.LLMResponse
        if self.archiving:
            self.summaries += 1
            summary = self.request.get("summary")
            if summary is None:
                return response(content="no summary here", finish_reason="error")
            return response(content=summary)
        self.requests += 1
        if self.requests > len(self.rounds):
            raise Sent
        self._append(self.rounds[self.requests - 1])
        self.recorder.next_request()
        return response(content="")

    def _append(self, rows: list[dict[str, Any]]) -> None:
        """Add the rows of one round to the runner's list, each by nanobot's own function."""
        runner = self.loop.runner
        self.recorder.listening = False
        for row in rows:
            if row.get("role") == "user":
                runner._append_injected_messages(self.live, [row])
            elif row.get("role") == "tool" and self.request.get("fresh", True):
                self.live.append({**row, "content": self._normalized(row)})
            else:
                self.live.append(row)
        self.recorder.listening = True

    def _normalized(self, row: dict[str, Any]) -> Any:
        arguments = (row.get("tool_call_id"), row.get("name"), row.get("content"))
        runner = self.loop.runner
        if not hasattr(runner, "context_governor"):
            return runner._normalize_tool_result(self.spec, *arguments)
        module = sys.modules[type(runner.context_governor).__module__]
        config = module.ContextGovernanceConfig(
            **{
                name: value
                for name, value in {
                    "provider": self.loop.provider,
                    "model": "stub/model",
                    "tools": self.spec.tools,
                    "workspace": self.spec.workspace,
                    "session_key": self.spec.session_key,
                    "max_tool_result_chars": self.spec.max_tool_result_chars,
                    "inflight_start_index": 0,
                }.items()
                if name in _parameters(module.ContextGovernanceConfig)
            }
        )
        return runner.context_governor.normalize_tool_result(config, *arguments)


def _only_probe(consolidator: Any, *, swallow: bool) -> None:
    """Let the consolidator measure the prompt and archive nothing: that would take a model.

    0.2.2 goes on where the prompt cannot be measured (``swallow``), the others fail.
    """

    async def probe(session: Any, *arguments: Any, **named: Any) -> None:  # noqa: ARG001 - as the framework calls it
        runtime = {"runtime": named["runtime"]} if "runtime" in named else {}
        try:
            consolidator.estimate_session_prompt_tokens(session, **runtime)
        except Exception:
            if not swallow:
                raise

    if hasattr(consolidator, "maybe_consolidate_by_tokens"):
        consolidator.maybe_consolidate_by_tokens = probe


def _session(session: Any) -> dict[str, Any]:
    return {
        "messages": json.dumps(session.messages, default=str),
        "metadata": json.dumps(session.metadata, default=str),
        "archived": session.last_consolidated,
        "updated_at": session.updated_at.isoformat(),
    }


def _failure(error: BaseException) -> dict[str, Any]:
    """An exception, and the innermost function of nanobot it passed through."""
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        folder, found, file = frame.filename.replace(os.sep, "/").rpartition("/nanobot/")
        if found and folder:
            where = f"{file}::{frame.name}"
    return {"type": type(error).__name__, "message": str(error), "where": where}


def _put(source: str | None, target: Path) -> None:
    """Move a file to where nanobot looks for it; its time stamp goes with it."""
    if source is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, target)


def _set(variables: dict[str, bool]) -> dict[str, str]:
    """Set and unset what skills may require; the environment as it was."""
    before = dict(os.environ)
    for name, is_set in variables.items():
        if is_set:
            os.environ[name] = "set"
        else:
            os.environ.pop(name, None)
    return before


_real_which = shutil.which


def _which(names: list[str] | None) -> Any:
    if names is None:
        return _real_which
    return lambda name, *rest, **named: f"/bin/{name}" if name in names else None


def _parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


def _is_new(framework: Framework) -> bool:
    return "runtime" in _parameters(framework.loop.AgentLoop._process_message)


def _block_provider(framework: Framework, block: dict[str, Any]) -> Any:
    made = framework.context.RuntimeContextBlock(source=block["source"], content=block["content"])

    async def provide(request: Any) -> list[Any]:  # noqa: ARG001 - as the framework calls it
        return [made]

    return provide
