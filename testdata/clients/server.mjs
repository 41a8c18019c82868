#!/usr/bin/env node
// A model server that says what a scenario says, to the coding agents of the
// tests: Anthropic Messages, OpenAI Responses and Gemini generateContent on one
// address, with no dependencies. README.md beside this file tells the rest.
//
//   node server.mjs --scenario FILE --truth FILE [--listen ADDRESS]
//                   [--var NAME=VALUE]… [--lifetime SECONDS] [--until-eof]
//
// ADDRESS is HOST:PORT (127.0.0.1:0 by default) or unix:PATH. The first line of
// stdout is where it listens. It ends by itself after its lifetime (300 s) and,
// with --until-eof, when its stdin ends: whoever started it may be gone.

import fs from 'node:fs';
import http from 'node:http';
import zlib from 'node:zlib';
import { Script } from './script.mjs';
import { Truth } from './truth.mjs';
import * as anthropic from './anthropic.mjs';
import * as gemini from './gemini.mjs';
import * as openai from './openai.mjs';

const maxBody = 32 << 20;
const maxDelay = 60_000;

const opt = { listen: '127.0.0.1:0', lifetime: 300, vars: {} };
for (let i = 2; i < process.argv.length; i++) {
  const [flag, inline] = process.argv[i].split(/=(.*)/s);
  const value = () => inline ?? process.argv[++i];
  switch (flag) {
    case '--scenario': opt.scenario = value(); break;
    case '--truth': opt.truth = value(); break;
    case '--listen': opt.listen = value(); break;
    case '--lifetime': opt.lifetime = Number(value()); break;
    case '--until-eof': opt.untilEOF = true; break;
    case '--var': { const [k, v] = value().split(/=(.*)/s); opt.vars[k] = v ?? ''; break; }
    default: fail(`unknown option ${flag}`);
  }
}
if (!opt.scenario || !opt.truth) fail('--scenario and --truth are required');
if (!(opt.lifetime > 0)) fail('--lifetime is a number of seconds');

function fail(why) {
  console.error(`server: ${why}`);
  process.exit(2);
}

const truth = new Truth(opt.truth);
let script; // read once it is known where the server listens: ${URL} may stand in it

// Each protocol: which requests are its own, and its answer to one.
const protocols = [anthropic, openai, gemini];

async function handle(req, res) {
  const body = await read(req);
  const path = new URL(req.url, 'http://fake').pathname;
  if (req.method === 'POST') {
    for (const p of protocols) {
      const match = p.match(path);
      if (match) return answer(p, match, body, res);
    }
  }
  truth.other(req.method, path);
  if (req.method === 'HEAD' || path === '/') return res.writeHead(200).end();
  if (path === '/hello') return res.writeHead(200, { 'content-type': 'text/plain' }).end('hello\n');
  if (path.endsWith('/count_tokens')) return json(res, 200, { input_tokens: 100 });
  if (path.endsWith(':countTokens')) return json(res, 200, { totalTokens: 100 });
  if (path.endsWith('/models')) return json(res, 200, { object: 'list', data: [], models: [] });
  if (path.startsWith('/api/')) return json(res, 200, {});
  json(res, 404, { type: 'error', error: { type: 'not_found_error', message: `no ${req.method} ${path}` } });
}

// answer is one request to the model: what it brought is noted, then what the
// script says is sent, in the protocol's form.
async function answer(protocol, match, body, res) {
  const asked = protocol.asked(body, match);
  truth.asked(protocol.name, asked);
  const turn = asked.aside ? { text: asked.aside } : script.turn(protocol.name, asked.thread, asked.index);
  if (turn.delay_ms) await new Promise((done) => setTimeout(done, Math.min(turn.delay_ms, maxDelay)));
  const status = turn.status ?? 200;
  const calls = status === 200 ? protocol.calls(script.calls(protocol.name, turn), asked) : [];
  const said = truth.answer(protocol.name, asked, turn, status, calls);
  res.on('finish', () => truth.delivered(said));
  if (status !== 200) return json(res, status, protocol.error(status));
  const { events, whole } = protocol.reply(turn.text, calls, asked, said);
  if (!asked.stream) return json(res, 200, whole);
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': `req_${said.n}` });
  for (const [event, data] of events) res.write((event ? `event: ${event}\n` : '') + `data: ${JSON.stringify(data)}\n\n`);
  res.end();
}

function json(res, status, body) {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}

async function read(req) {
  const chunks = [];
  let size = 0;
  for await (const c of req) {
    if ((size += c.length) > maxBody) throw new Error(`a body of more than ${maxBody} bytes`);
    chunks.push(c);
  }
  let raw = Buffer.concat(chunks);
  switch (req.headers['content-encoding']) {
    case 'gzip': raw = zlib.gunzipSync(raw); break;
    case 'br': raw = zlib.brotliDecompressSync(raw); break;
    case 'zstd': raw = zlib.zstdDecompressSync(raw); break;
  }
  if (!raw.length || !/json/.test(req.headers['content-type'] ?? 'json')) return {};
  return JSON.parse(raw);
}

const server = http.createServer((req, res) => {
  handle(req, res).catch((e) => {
    truth.fault(`${req.method} ${req.url}: ${e?.stack ?? e}`);
    if (!res.headersSent) json(res, 500, { error: { message: String(e) } });
    else res.destroy();
  });
});
// An agent must not meet a connection that was closed while a tool ran.
server.keepAliveTimeout = opt.lifetime * 1000;
for (const event of ['upgrade', 'connect']) {
  server.on(event, (req, socket) => {
    truth.other(req.method, event === 'upgrade' ? `${req.url} (upgrade)` : req.url);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
}
server.on('error', (e) => fail(e.message));

const unix = /^unix:(.+)/.exec(opt.listen)?.[1];
const [, host, port] = /^(.*):(\d+)$/.exec(opt.listen) ?? [];
if (!unix && port === undefined) fail('--listen is HOST:PORT or unix:PATH');
server.listen(unix ? { path: unix } : { host, port: Number(port) }, () => {
  const where = unix ? opt.listen : `http://${host}:${server.address().port}`;
  try {
    script = new Script(JSON.parse(fs.readFileSync(opt.scenario, 'utf8')), { URL: where, ...opt.vars });
  } catch (e) {
    fail(`${opt.scenario}: ${e.message}`);
  }
  console.log(where);
});

function end(why) {
  truth.end(why);
  process.exit(0);
}
setTimeout(() => end('lifetime'), opt.lifetime * 1000);
for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => end(s));
if (opt.untilEOF) process.stdin.resume().on('end', () => end('eof')).on('error', () => end('eof'));
