// The runner of WASI modules, with and without a sandbox.
import { deepStrictEqual, equal, ok, rejects } from 'node:assert';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { createProcessSandbox, ProcessSandboxError, runWasi } from '../index.js';
import { onPath, ownFolder, sbx, wasiFolder } from './helpers.js';

/** A program that tells how it was started. */
function teller(dir, name) {
  const file = join(dir, name);
  writeFileSync(file, `#!${process.execPath}
const { stdin, argv, env } = process;
let text = '';
stdin.on('data', (c) => (text += c));
stdin.on('end', () => {
  console.log(JSON.stringify({ argv: argv.slice(2), env: { ...env }, cwd: process.cwd(), text }));
  console.error('told');
  process.exitCode = 7;
});
`);
  chmodSync(file, 0o755);
  return file;
}

const options = (dir) => ({
  module: 'job.wasm', args: ['a b', '', 'é'], env: { K: 'v w' }, cwd: dir, runnerEnv: { PATH: '/usr/bin:/bin', X: '1' }, stdin: 'in',
  mounts: [{ kind: 'dir', label: 'd', hostPath: dir, guestPath: '/data', mode: 'ro' }],
});

test('without a processSandbox nothing is different', async (t) => {
  const dir = ownFolder(t);
  const wasmtime = await runWasi({ ...options(dir), runner: teller(dir, 'wasmtime') });
  deepStrictEqual(Object.keys(wasmtime).sort(), ['exitCode', 'stderr', 'stdout']);
  const told = JSON.parse(wasmtime.stdout);
  deepStrictEqual(told.argv, ['run', '--dir', `${dir}::/data`, '--env', 'K=v w', 'job.wasm', 'a b', '', 'é']);
  deepStrictEqual(told.env, { PATH: '/usr/bin:/bin', X: '1' });
  deepStrictEqual([told.cwd, told.text, wasmtime.exitCode, wasmtime.stderr], [dir, 'in', 7, 'told\n']);
  const wazero = await runWasi({ ...options(dir), processSandbox: undefined, runner: teller(dir, 'wazero') });
  ok(!('sandboxAudits' in wazero));
  deepStrictEqual(JSON.parse(wazero.stdout).argv, ['run', `-mount=${dir}:/data:ro`, '-env=K=v w', 'job.wasm', 'a b', '', 'é']);
});

test('what a wrapper says is what is spawned', async (t) => {
  const dir = ownFolder(t);
  mkdirSync(join(dir, 'elsewhere'));
  const other = teller(dir, 'other');
  const audit = { kind: 'process-sandbox', wrapperName: 'fake', wrappedCmd: 'other', wrappedArgs: ['x'], mounts: [], truncated: false };
  let got;
  const processSandbox = {
    name: 'fake',
    wrap(inv) {
      got = structuredClone(inv);
      return { wrapped: { cmd: other, args: ['x', ...inv.args], env: { PATH: '/usr/bin:/bin', ONLY: 'this' }, cwd: join(dir, 'elsewhere'), mounts: [] }, audit };
    },
  };
  const plain = JSON.parse((await runWasi({ ...options(dir), runner: teller(dir, 'wasmtime') })).stdout);
  const result = await runWasi({ ...options(dir), runner: join(dir, 'wasmtime'), processSandbox });
  deepStrictEqual([got.args, got.env, got.cwd], [plain.argv, plain.env, plain.cwd]);
  const told = JSON.parse(result.stdout);
  deepStrictEqual(told.argv, ['x', ...plain.argv]);
  deepStrictEqual(told.env, { PATH: '/usr/bin:/bin', ONLY: 'this' });
  equal(told.cwd, join(dir, 'elsewhere'));
  deepStrictEqual(result.sandboxAudits, [audit]);
  deepStrictEqual(structuredClone(result.sandboxAudits), result.sandboxAudits);
  const refusing = { name: 'no', wrap() { throw new ProcessSandboxError([{ field: 'cmd', on: '', reason: 'no', help: '' }]); } };
  await rejects(runWasi({ ...options(dir), runner: join(dir, 'wasmtime'), processSandbox: refusing }), ProcessSandboxError);
});

test('a runner that cannot be told is refused', async (t) => {
  const dir = ownFolder(t);
  await rejects(runWasi({ module: 'm', runner: 'lua' }), /its flags are not known/);
  await rejects(runWasi({ module: 'm', runner: join(dir, 'wasmtime') }), /ENOENT.*install it/);
  const mounts = [{ kind: 'dir', label: 'd', hostPath: '/a:b', guestPath: '/d', mode: 'ro' }];
  await rejects(runWasi({ module: 'm', runner: 'wazero', mounts }), /a path with ":"/);
  await rejects(runWasi({ module: 'm', runner: 'wazero', timeout: '5' }), TypeError);
});

for (const runner of ['wazero', 'wasmtime']) {
  for (const wrapper of ['none', 'sbx', 'bwrap']) {
    test(`${runner} in ${wrapper} runs a module`, async (t) => {
      const wasi = wasiFolder();
      if (!wasi) return t.skip('wazero and the module could not be built');
      const program = runner === 'wazero' ? join(wasi, 'wazero') : onPath('wasmtime');
      if (!program) return t.skip('no wasmtime');
      if (wrapper === 'bwrap' && !onPath('bwrap')) return t.skip('no bwrap');
      const dir = ownFolder(t);
      for (const name of ['data', 'out']) mkdirSync(join(dir, name));
      writeFileSync(join(dir, 'data/in.txt'), 'hello');
      writeFileSync(join(dir, 'secret'), 'outside');
      const mounts = [
        { kind: 'dir', label: 'data', hostPath: join(dir, 'data'), guestPath: '/data', mode: 'ro' },
        { kind: 'dir', label: 'out', hostPath: join(dir, 'out'), guestPath: '/out', mode: 'rw' }];
      const tools = [{ kind: 'dir', label: 'tools', hostPath: wasi, guestPath: '/tools', mode: 'ro' }];
      const processSandbox = await createProcessSandbox({ wrapper, mounts: [...mounts, ...tools], cwd: join(dir, 'out'), sbx });
      const job = { module: join(wasi, 'job.wasm'), runner: program, mounts, cwd: join(dir, 'out'), timeout: 60_000 };
      const plain = await runWasi(job);
      equal(plain.exitCode, 0, plain.stderr);
      equal(readFileSync(join(dir, 'out/x'), 'utf8'), 'HELLO');
      writeFileSync(join(dir, 'data/in.txt'), 'again');
      const result = await runWasi({ ...job, processSandbox });
      equal(result.exitCode, 0, result.stderr);
      deepStrictEqual({ ...result, sandboxAudits: undefined }, { ...plain, sandboxAudits: undefined });
      equal(readFileSync(join(dir, 'out/x'), 'utf8'), 'AGAIN');
      const [audit] = result.sandboxAudits;
      equal(audit.wrapperName, wrapper);
      deepStrictEqual(audit.mounts, mounts.map(({ label, guestPath, mode }) => ({ label, guestPath, mode })));
      ok(!JSON.stringify(audit).includes(dir), JSON.stringify(audit));
      deepStrictEqual(structuredClone(result.sandboxAudits), result.sandboxAudits);
      equal((await runWasi({ ...job, args: ['exit', '9'], processSandbox })).exitCode, 9);
      // A directory that the runner opens to the module, and the sandbox does not.
      const opened = [...mounts, { kind: 'dir', label: 'all', hostPath: dir, guestPath: '/all', mode: 'rw' }];
      const around = { ...processSandbox, wrap: (inv) => processSandbox.wrap({ ...inv, mounts }) };
      const outside = { ...job, mounts: opened, args: ['write', '/all/new', 'x'] };
      equal((await runWasi(outside)).exitCode, 0);
      ok(existsSync(join(dir, 'new')));
      const refused = await runWasi({ ...outside, args: ['write', '/all/other', 'x'], processSandbox: around });
      // A sandbox may have a directory of its own there: what counts is the host's.
      equal(existsSync(join(dir, 'other')), wrapper === 'none', refused.stderr);
    });
  }
}
