// Gemini generateContent, as gemini-cli speaks it.

import { least, threadIn } from './script.mjs';

export const name = 'gemini';
export const match = (path) => /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path);

const words = (content) => (content?.parts ?? []).map((p) => p.text ?? '').join('\n');

export function asked(body, [, model, method]) {
  const contents = body.contents ?? [];
  const declared = (body.tools ?? []).flatMap((t) => t.functionDeclarations ?? []);
  const schema = body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema;
  return {
    model,
    stream: method === 'streamGenerateContent',
    tools: declared.map((f) => f.name),
    declared,
    thread: contents.filter((c) => c.role === 'user').map((c) => threadIn(words(c))).find(Boolean) ?? '',
    index: contents.filter((c) => c.role === 'model').length,
    // The router of models asks for a choice in a form of its own.
    aside: schema ? JSON.stringify(least(schema)) : declared.length ? '' : 'ok',
    results: contents.flatMap((c) => c.parts ?? []).filter((p) => p.functionResponse?.id)
      .map(({ functionResponse: r }) => ({ id: own(r.id), text: r.response?.error ?? r.response?.output ?? JSON.stringify(r.response), error: r.response?.error !== undefined })),
  };
}

// own is the id that was given out: gemini-cli puts the tool's name before it.
const own = (id) => /fc_.*$/.exec(id)?.[0] ?? id;

export function calls(wanted, asked) {
  const made = wanted.map((c) => [...named(c), c]);
  // A sub-agent ends by a call, in the form that its definition has.
  if (asked.thread && !made.length && asked.tools.includes('complete_task')) {
    const def = asked.declared.find((f) => f.name === 'complete_task');
    made.push(['complete_task', least(def.parametersJsonSchema ?? def.parameters), { name: 'complete', do: 'complete' }]);
  }
  return made.map(([tool, args, from], i) => ({ id: `fc_${asked.thread || 'main'}_${asked.index}_${i}`, tool, args, from }));
}

function named(c) {
  switch (c.do) {
    case 'shell': return ['run_shell_command', { command: c.command, description: 'Run a command' }];
    case 'read': return ['read_file', { file_path: c.path }];
    case 'write': return ['write_file', { file_path: c.path, content: c.content }];
    case 'mcp': return [`mcp_${c.server}_${c.tool}`, c.args ?? {}];
    case 'search': return ['grep_search', { pattern: c.pattern }];
    case 'task': return ['invoke_agent', { agent_name: 'generalist', prompt: c.prompt, request: c.prompt }];
  }
  throw new Error(`gemini has no tool to ${c.do}`);
}

export const error = (status) => ({ error: { code: status, message: `the scenario says ${status}`, status: 'INTERNAL' } });

export function reply(text, calls, asked, said) {
  // The first call of an answer bears a signature of the thought before it.
  const parts = calls.map((c, i) => ({ functionCall: { id: c.id, name: c.tool, args: c.args }, ...(i ? {} : { thoughtSignature: 'c2lnbmF0dXJl' }) }));
  if (text || !parts.length) parts.unshift({ text: text || 'Done.' });
  const { input, cached, output } = said.tokens;
  const whole = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: input, cachedContentTokenCount: cached, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: asked.model, responseId: `resp_${said.n}`,
  };
  return { whole, events: [[null, whole]] };
}
