// Anthropic Messages, as claude speaks it.

import { threadIn } from './script.mjs';

export const name = 'anthropic';
export const match = (path) => path.endsWith('/v1/messages');

const words = (content) => typeof content === 'string' ? content
  : (content ?? []).map((b) => b.text ?? (typeof b.content === 'string' ? b.content : words(b.content))).join('\n');

export function asked(body) {
  const messages = body.messages ?? [];
  const tools = (body.tools ?? []).map((t) => t.name);
  const first = messages.find((m) => m.role === 'user');
  return {
    model: body.model,
    stream: !!body.stream,
    tools,
    thread: threadIn(words(first?.content)),
    index: messages.filter((m) => m.role === 'assistant').length,
    aside: tools.length === 0 ? 'ok' : '',
    results: messages.filter((m) => m.role === 'user' && Array.isArray(m.content)).flatMap((m) => m.content)
      .filter((b) => b.type === 'tool_result')
      .map((b) => ({ id: b.tool_use_id, text: words(b.content), error: b.is_error })),
  };
}

export function calls(wanted, asked) {
  return wanted.map((c, i) => {
    const [tool, input] = named(c, asked.tools);
    return { id: `toolu_${asked.thread || 'main'}_${asked.index}_${i}`, tool, input, from: c };
  });
}

function named(c, offered) {
  switch (c.do) {
    case 'shell': return ['Bash', { command: c.command, description: 'Run a command' }];
    case 'read': return ['Read', { file_path: c.path }];
    case 'write': return ['Write', { file_path: c.path, content: c.content }];
    case 'mcp': return [`mcp__${c.server}__${c.tool}`, c.args ?? {}];
    case 'search': return ['Grep', { pattern: c.pattern }];
    // The tool was renamed; older names of it are still taken.
    case 'task': return [offered.includes('Task') ? 'Task' : 'Agent',
      { description: 'A part', prompt: c.prompt, subagent_type: 'general-purpose', run_in_background: false }];
  }
  throw new Error(`claude has no tool to ${c.do}`);
}

export const error = (status) => ({ type: 'error', error: { type: 'api_error', message: `the scenario says ${status}` } });

export function reply(text, calls, asked, said) {
  const content = calls.map((c) => ({ type: 'tool_use', id: c.id, name: c.tool, input: c.input }));
  if (text || !content.length) content.unshift({ type: 'text', text: text || 'Done.' });
  const stop = calls.length ? 'tool_use' : 'end_turn';
  // Of this service input_tokens is what no cache had.
  const usage = {
    input_tokens: said.tokens.input - said.tokens.cached, output_tokens: said.tokens.output,
    cache_creation_input_tokens: 0, cache_read_input_tokens: said.tokens.cached,
  };
  const whole = {
    id: `msg_${asked.thread || 'main'}_${asked.index}_${said.n}`, type: 'message', role: 'assistant', model: asked.model,
    content, stop_reason: stop, stop_sequence: null, usage,
  };
  const events = [['message_start', { message: { ...whole, content: [], stop_reason: null } }]];
  content.forEach((b, index) => {
    const isText = b.type === 'text';
    events.push(['content_block_start', { index, content_block: isText ? { type: 'text', text: '' } : { ...b, input: {} } }]);
    events.push(['content_block_delta', { index, delta: isText ? { type: 'text_delta', text: b.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(b.input) } }]);
    events.push(['content_block_stop', { index }]);
  });
  events.push(['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage }], ['message_stop', {}]);
  return { whole, events: events.map(([type, data]) => [type, { type, ...data }]) };
}
