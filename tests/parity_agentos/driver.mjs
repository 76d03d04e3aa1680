// Runs the real AgentOS prompt engine for the differential tests: one JSON request a line on
// standard input, one JSON answer a line on standard output. The first argument is the folder of
// node_modules. Nothing else may be written to standard output, so the package's own logging is off.

import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

for (const name of ['log', 'warn', 'info', 'debug', 'error']) console[name] = () => {};

const dist = path.join(path.resolve(process.argv[2]), '@framers', 'agentos', 'dist');
const load = (...parts) => import(pathToFileURL(path.join(dist, ...parts)).href);
const { PromptEngine } = await load('core', 'llm', 'PromptEngine.js');
const { assembleMemoryContext } = await load('cognition', 'memory', 'core', 'prompt', 'MemoryPromptAssembler.js');

function summarizer(settings, calls) {
  if (!settings) return undefined;
  const fail = () => { throw new Error('set to fail'); };
  return {
    async summarizeConversationHistory(messages, target, _model, preserve) {
      calls.push({ what: 'history', ids: messages.map((m) => m.id ?? null), target, preserve });
      if (settings.history === 'fail') fail();
      const summary = { id: 'sum', role: 'summary', content: settings.historyText };
      return { summaryMessages: [summary], finalTokenCount: settings.historyTokens };
    },
    async summarizeRAGContext(_context, target, _model, preserve) {
      calls.push({ what: 'rag', target, preserve });
      if (settings.rag === 'fail') fail();
      return { summary: settings.ragText, finalTokenCount: settings.ragTokens };
    },
  };
}

async function engineFor(request, calls) {
  const engine = new PromptEngine();
  // The eviction timer would keep the process, and every engine, alive.
  const timer = globalThis.setInterval;
  globalThis.setInterval = () => 0;
  await engine.initialize(request.config, summarizer(request.utility, calls));
  globalThis.setInterval = timer;
  if (request.setCurrentContext) engine.setCurrentExecutionContext(request.executionContext ?? undefined);
  return engine;
}

const operations = {
  async construct(request) {
    const calls = [];
    const engine = await engineFor(request, calls);
    const context = request.executionContext ?? undefined;
    const template = request.templateName ?? undefined;
    const result = await engine.constructPrompt(request.components, request.model, context, template);
    return { result, calls };
  },
  async validate(request) {
    const engine = await engineFor(request, []);
    return engine.validatePromptConfiguration(
      request.components, request.model, request.executionContext ?? undefined);
  },
  async estimate(request) {
    const engine = await engineFor(request, []);
    return Promise.all(request.rows.map(([text, model]) => engine.estimateTokenCount(text, model)));
  },
  async memory(request) {
    Date.now = () => request.now;
    return assembleMemoryContext(request.input);
  },
  async text(request) {
    return request.values.map((value) => [
      JSON.stringify(value), String(value), typeof value === 'number' ? value.toFixed(2) : null,
      typeof value === 'string' ? value.trim() : null,
    ]);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = { ok: await operations[request.operation](request) };
  } catch (error) {
    answer = { thrown: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
