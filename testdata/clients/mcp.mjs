#!/usr/bin/env node
// An MCP server on stdin and stdout with the tools ping and pong. It writes down,
// a line each, that it was started and which of its tools was called.
//
//   node mcp.mjs NAME FILE

import fs from 'node:fs';
import readline from 'node:readline';

const [name, file] = process.argv.slice(2);
const note = (what) => fs.appendFileSync(file, `${name} ${what}\n`);
note('started');

const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: ['ping', 'pong'].map((t) => ({ name: t, description: `${t} of ${name}`, inputSchema: { type: 'object', properties: {} } })) }),
  'tools/call': (p) => {
    note(p.name);
    return { content: [{ type: 'text', text: `${name} did ${p.name}` }] };
  },
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const answer = answers[m.method];
  const said = answer ? { result: answer(m.params ?? {}) } : { error: { code: -32601, message: `no ${m.method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...said })}\n`);
}).on('close', () => process.exit(0));
