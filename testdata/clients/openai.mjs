// OpenAI Responses, as codex speaks it.
//
// With its newer models codex offers no shell tool but one `exec` that takes
// JavaScript, which calls tools.exec_command and tools.apply_patch.

import { threadIn } from './script.mjs';

export const name = 'openai';
export const match = (path) => path.endsWith('/v1/responses');

const words = (content) => typeof content === 'string' ? content
  : (content ?? []).map?.((b) => b.text ?? b.encrypted_content ?? '').join('\n') ?? JSON.stringify(content);

// definitions are the tools of a request; some stand in namespaces, some in an
// item of the input.
function definitions(body, input) {
  const flat = (tools, space) => (tools ?? []).flatMap((t) => t.tools ? flat(t.tools, t.name) : [{ name: t.name ?? t.type, type: t.type, space }]);
  return flat(body.tools).concat(input.filter((i) => i.type === 'additional_tools').flatMap((i) => flat(i.tools)));
}

export function asked(body) {
  const input = Array.isArray(body.input) ? body.input : [{ type: 'message', role: 'user', content: body.input ?? '' }];
  const defs = definitions(body, input);
  // A sub-agent's history begins as its parent's; its task is an agent_message.
  const task = input.findLastIndex((m) => m.type === 'agent_message' && threadIn(words(m.content)) && /NEW_TASK/.test(words(m.content)));
  const thread = task >= 0 ? threadIn(words(input[task].content))
    : input.filter((m) => (m.type ?? 'message') === 'message' && m.role === 'user').map((m) => threadIn(words(m.content))).find(Boolean) ?? '';
  const mine = input.slice(task + 1);
  // The ids that were given out hold the turn: the items of one turn share it.
  const turns = mine.map((i) => /_t(\d+)_/.exec(i.call_id ?? i.id ?? '')?.[1]).filter(Boolean).map(Number);
  return {
    model: body.model,
    stream: !!body.stream,
    tools: defs.map((d) => d.name),
    defs,
    thread,
    index: turns.length ? Math.max(...turns) + 1 : mine.filter((i) => i.type === 'message' && i.role === 'assistant').length,
    aside: defs.length === 0 ? 'ok' : '',
    results: mine.filter((i) => /^(function|custom_tool)_call_output$/.test(i.type))
      .map((i) => ({ id: i.call_id, ...result(i.output) })),
  };
}

// result reads the words of an output; codex has no flag for a failure.
function result(output) {
  const text = typeof output === 'string' ? output : words(output?.content ?? output);
  return { text, error: output?.success === false };
}

export function calls(wanted, asked) {
  const nested = asked.tools.includes('exec') && !asked.tools.includes('exec_command');
  return wanted.map((c, i) => {
    let [tool, input] = named(c);
    if (nested && (tool === 'exec_command' || tool === 'apply_patch' || c.do === 'mcp')) {
      input = `const r = await tools.${tool}(${JSON.stringify(input)});\ntext(r?.output ?? r?.content?.[0]?.text ?? r ?? "");\n`;
      tool = 'exec';
    }
    const def = asked.defs.find((d) => d.name === tool);
    return { id: `call_t${asked.index}_${asked.thread || 'main'}_${i}`, tool, input, custom: typeof input === 'string', space: def?.space, from: c };
  });
}

const quoted = (s) => `'${String(s).replaceAll("'", `'\\''`)}'`;

function named(c) {
  const shell = (cmd) => ['exec_command', { cmd }];
  switch (c.do) {
    case 'shell': return shell(c.command);
    case 'read': return shell(`cat ${quoted(c.path)}`);
    case 'search': return shell(`grep -rn ${quoted(c.pattern)} .`);
    case 'write': return ['apply_patch', `*** Begin Patch\n*** Add File: ${c.path}\n${c.content.replace(/\n$/, '').split('\n').map((l) => `+${l}`).join('\n')}\n*** End Patch\n`];
    case 'task': return ['spawn_agent', { message: c.prompt, task_name: c.thread }];
    case 'mcp': return [`mcp__${c.server}__${c.tool}`, c.args ?? {}];
    case 'wait': return ['wait_agent', { timeout_ms: 10000 }];
  }
  throw new Error(`codex has no tool to ${c.do}`);
}

export const error = (status) => ({ error: { type: 'server_error', message: `the scenario says ${status}` } });

export function reply(text, calls, asked, said) {
  const output = calls.map((c) => ({
    type: c.custom ? 'custom_tool_call' : 'function_call', id: `fc_${c.id}`, call_id: c.id, status: 'completed', name: c.tool,
    ...(c.space ? { namespace: c.space } : {}),
    ...(c.custom ? { input: c.input } : { arguments: JSON.stringify(c.input) }),
  }));
  if (text || !output.length) {
    output.unshift({
      type: 'message', id: `msg_t${asked.index}_${said.n}`, role: 'assistant', status: 'completed',
      content: [{ type: 'output_text', text: text || 'Done.', annotations: [] }],
    });
  }
  const { input, cached, output: out } = said.tokens;
  const usage = {
    input_tokens: input, input_tokens_details: { cached_tokens: cached },
    output_tokens: out, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + out,
  };
  const whole = {
    id: `resp_${said.n}`, object: 'response', created_at: Math.floor(Date.now() / 1000), model: asked.model,
    status: 'completed', output, usage, error: null, incomplete_details: null,
  };
  return { whole, events: events(whole, output) };
}

function events(whole, output) {
  const all = [];
  const push = (type, data) => all.push([type, { type, sequence_number: all.length, ...data }]);
  push('response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } });
  output.forEach((item, output_index) => {
    const isText = item.type === 'message';
    push('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', ...(isText ? { content: [] } : {}) } });
    if (isText) {
      const at = { item_id: item.id, output_index, content_index: 0 };
      const { text } = item.content[0];
      push('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } });
      push('response.output_text.delta', { ...at, delta: text });
      push('response.output_text.done', { ...at, text });
    }
    push('response.output_item.done', { output_index, item });
  });
  push('response.completed', { response: whole });
  return all;
}
