// A command in a sandbox, by the program sbx.
import { deepStrictEqual, equal, match, ok, rejects, strictEqual } from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { Aborted, createProcessSandbox, exec, ExitError, Refused, SbxError } from '../index.js';
import { readRecord } from '../lib/record.js';
import { folder, needSandbox, onPath, ownFolder, root, sbx } from './helpers.js';

const readOnly = { access_mode: 'read-only' };
const writable = { access_mode: 'workspace-write' };

/** A directory for the command, and TMPDIR for this process, which is to be empty at the end. */
function folders(t) {
  const dir = ownFolder(t);
  const tmp = ownFolder(t);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = tmp;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  return { dir, noneLeft: () => deepStrictEqual(readdirSync(tmp), []) };
}

test('without a spec no file of the directory counts', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  mkdirSync(join(dir, '.sbx'));
  const specFile = join(dir, '.sbx', 'spec.yaml');
  writeFileSync(specFile, 'access_mode: read-only\n');
  const options = { cmd: 'sh', args: ['-c', 'echo x >made && echo written'], cwd: dir, sbx };
  strictEqual((await exec(options)).stdout, 'written\n');
  strictEqual((await exec({ ...options, specFile })).stdout, '');
});

test('the command has what it is given', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir, noneLeft } = folders(t);
  const script = 'cat; echo "$NAMED $0 $1"; pwd; echo to stderr >&2; : >made; exit 3';
  const options = { cmd: 'sh', args: ['-c', script, 'a b', '--'], cwd: dir, env: { ...process.env, NAMED: 'é' }, stdin: 'in\n', sbx };
  const result = await exec(options);
  const stdout = `in\né a b --\n${dir}\n`;
  deepStrictEqual([result.exitCode, result.stdout, result.stderr], [3, stdout, 'to stderr\n']);
  deepStrictEqual(Object.keys(result).sort(), ['exitCode', 'record', 'stderr', 'stdout']);
  deepStrictEqual([result.record.state, result.record.command.cwd, result.record.exit], ['exited', dir, { code: 3, ended_by: 'command' }]);
  ok(existsSync(join(dir, 'made')));
  const bytes = await exec({ ...options, encoding: 'buffer' });
  ok(Buffer.from(stdout).equals(bytes.stdout) && Buffer.isBuffer(bytes.stderr));

  const file = join(dir, 'out');
  const fd = openSync(file, 'w');
  const there = await exec({ cmd: 'echo', args: ['x'], cwd: dir, stdio: ['ignore', fd, 'pipe'], sbx });
  closeSync(fd);
  deepStrictEqual([there.stdout, readFileSync(file, 'utf8')], ['', 'x\n']);
  const by = await exec({ cmd: 'sh', args: ['-c', 'kill -9 $$'], cwd: dir, sbx });
  deepStrictEqual([by.exitCode, by.record.exit.signal], [128 + 9, 9]);
  noneLeft();
});

test('the spec holds, and the record tells of a denial', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  const run = (spec) => exec({ cmd: 'sh', args: ['-c', 'echo x >made && echo written'], cwd: dir, spec, sbx });
  const control = await run(writable);
  deepStrictEqual([control.exitCode, control.stdout, control.record.access_mode], [0, 'written\n', 'workspace-write']);
  const denied = await run(readOnly);
  deepStrictEqual([denied.exitCode, denied.stdout, denied.record.access_mode], [2, '', 'read-only']);
  match(denied.stderr, /made: Read-only file system/);
  if (denied.record.observed_filesystem?.includes('opens for writing')) {
    deepStrictEqual(denied.record.violations.map((v) => [v.kind, v.target, v.count]), [['filesystem', join(dir, 'made'), 1]]);
  }
});

test('what did not start is Refused', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir, noneLeft } = folders(t);
  writeFileSync(join(dir, 'plain'), '');
  for (const [options, exitCode, field, on, why] of [
    [{ spec: { ...writable, working_dir: '/nowhere' } }, 125, 'working_dir', 'spec', /\/nowhere does not exist/],
    [{ spec: { ...writable, limits: { timeuot: '1s' } } }, 125, 'limits.timeuot', 'spec', /unknown field/],
    [{ spec: null }, 125, '', 'spec', /got null/],
    [{ cmd: 'no-such-command' }, 127, '', 'no-such-command', /in no directory of PATH/],
    [{ cmd: './plain' }, 126, '', './plain', /cannot run/],
  ]) {
    await rejects(exec({ cmd: 'true', cwd: dir, sbx, ...options }), (error) => {
      ok(error instanceof Refused && error instanceof SbxError && !(error instanceof ExitError), String(error));
      deepStrictEqual([error.name, error.exitCode, error.field, error.on], ['Refused', exitCode, field, on]);
      match(error.why, why);
      ok(error.message.endsWith(error.why));
      deepStrictEqual([error.record.state, error.record.error?.field ?? ''], ['refused', field]);
      return true;
    });
  }
  noneLeft();
  equal((await exec({ cmd: 'true', cwd: dir, spec: writable, sbx, check: true })).exitCode, 0); // the control
});

test('a status is an error where check asks for it', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  const options = { cmd: 'sh', args: ['-c', 'echo out; exit 4'], cwd: dir, sbx };
  equal((await exec(options)).exitCode, 4);
  await rejects(exec({ ...options, check: true }), (error) => {
    ok(error instanceof ExitError && !(error instanceof Refused));
    deepStrictEqual([error.exitCode, error.result.stdout, error.result.record.state], [4, 'out\n', 'exited']);
    return true;
  });
});

test('an AbortSignal ends the sandbox', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir, noneLeft } = folders(t);
  const fifo = join(dir, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const abort = async (script, more) => {
    const fd = openSync(fifo, 'r+');
    const controller = new AbortController();
    const ready = openSync(join(dir, 'ready'), 'w+');
    const running = exec({ cmd: 'sh', args: ['-c', script], cwd: dir, stdio: [fd, ready, 'ignore'], signal: controller.signal, sbx, ...more });
    let error;
    running.catch((e) => (error = e));
    while (readFileSync(join(dir, 'ready'), 'utf8') === '' && error === undefined) await new Promise((then) => setTimeout(then, 20));
    controller.abort(new Error('enough'));
    await rejects(running, (e) => e instanceof Aborted && e.name === 'AbortError' && e.code === 'ABORT_ERR' && e.cause.message === 'enough');
    closeSync(fd);
    closeSync(ready);
    return error;
  };
  const killed = await abort("trap '' TERM; setsid sleep 1000 & echo ready; wait", { spec: readOnly });
  deepStrictEqual([killed.record.state, killed.record.ended_at, killed.exitCode], ['lost', undefined, 128 + 9]);
  const ended = await abort("trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done", { spec: readOnly, killSignal: 'SIGTERM' });
  deepStrictEqual([ended.record.state, ended.record.exit.code, ended.exitCode], ['exited', 7, 7]);
  const marker = join(dir, 'started');
  await rejects(exec({ cmd: 'touch', args: [marker], cwd: dir, signal: AbortSignal.abort(), sbx }), Aborted);
  ok(!existsSync(marker));
  await exec({ cmd: 'touch', args: [marker], cwd: dir, signal: new AbortController().signal, sbx }); // the control
  ok(existsSync(marker));
  noneLeft();
});

test('a spec counts from where it says, and is on no command line', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  mkdirSync(join(dir, 'at/work'), { recursive: true });
  writeFileSync(join(dir, 'at/work/secret'), 'told');
  const spec = { ...writable, working_dir: 'at/work', filesystem: { hide: ['secret'] }, environment: { set: { NAMED: 'in-the-document' } } };
  const before = structuredClone(spec);
  writeFileSync(join(dir, 'spec.yaml'), JSON.stringify(spec));
  const script = "pwd; cat secret; echo $NAMED; tr '\\0' ' ' </proc/1/cmdline";
  for (const from of [{ spec, cwd: dir }, { specFile: join(dir, 'spec.yaml'), cwd: '/' }]) {
    const { stdout } = await exec({ cmd: 'sh', args: ['-c', script], sbx, ...from });
    const [pwd, named, ...line] = stdout.split('\n');
    deepStrictEqual([pwd, named], [join(dir, 'at/work'), 'in-the-document']);
    ok(!line.join('').includes('in-the-document'));
  }
  deepStrictEqual(spec, before);
  equal((await exec({ cmd: 'cat', args: ['at/work/secret'], cwd: dir, sbx })).stdout, 'told'); // the control
});

test('a rule that JSON would lose is refused', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  equal((await exec({ cmd: 'true', cwd: dir, spec: { access_mode: 'read-only' }, sbx })).exitCode, 0);
  const round = {};
  round.network = round;
  for (const [spec, why] of [
    [{ access_mode: undefined }, /spec\.access_mode is undefined/], [{ filesystem: { hide: ['a', undefined] } }, /spec\.filesystem\.hide\[1\]/],
    [{ filesystem: { hide: [, 'a'] } }, /hide\[0\]/], // eslint-disable-line no-sparse-arrays
    [{ max_turns: NaN }, /spec\.max_turns is NaN/], [{ limits: new Map([['timeout', '1s']]) }, /spec\.limits is not a plain object/],
    [{ limits: { toJSON: () => ({}) } }, /spec\.limits/], [() => {}, /spec is function/], [round, /spec\.network holds itself/],
  ]) {
    await rejects(exec({ cmd: 'true', cwd: dir, spec, sbx }), (error) => error instanceof TypeError && why.test(error.message));
    await rejects(createProcessSandbox({ wrapper: 'sbx', cwd: dir, spec, sbx }), (error) => error instanceof TypeError && why.test(error.message));
  }
});

test('options that are none are refused', async () => {
  for (const [options, why] of [
    [undefined, /no cmd/], [{}, /no cmd/], [{ cmd: '' }, /no cmd/], [{ cmd: 'true', timeout: 5 }, /no option timeout/], [{ cmd: 'true', args: 'x' }, /args/],
    [{ cmd: 'true', args: [1] }, /args/], [{ cmd: 'true', spec: {}, specFile: 'x' }, /both/], [{ cmd: 'true', stdio: 'inherit' }, /stdio/],
    [{ cmd: 'true', stdin: 'x', stdio: ['ignore', 'pipe', 'pipe'] }, /stdin/], [{ cmd: 'true', encoding: 'latin1' }, /encoding/], [{ cmd: 'true', killSignal: 'SIGNONE' }, /SIGNONE/],
  ]) await rejects(exec(options), (error) => error instanceof TypeError && why.test(error.message));
});

test('a record that is none is neither waited for nor believed', async (t) => {
  const dir = ownFolder(t);
  const write = (name, text) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const whole = '{"record_version": 1, "id": "x", "state": "running", "new_key": {"a": 1}}';
  deepStrictEqual(await readRecord(write('whole', whole)), { record_version: 1, id: 'x', state: 'lost', new_key: { a: 1 } });
  execFileSync('mkfifo', [join(dir, 'fifo')]);
  symlinkSync('whole', join(dir, 'link'));
  write('large', '');
  truncateSync(join(dir, 'large'), (32 << 20) + 1);
  for (const [path, why] of [
    [join(dir, 'none'), /no record was left/], [join(dir, 'fifo'), /not a regular file/], [join(dir, 'link'), /no record was left.*ELOOP/], [dir, /not a regular file/], [join(dir, 'large'), /more than/],
    [write('half', whole.slice(0, 40)), /cannot read the record/], [write('next', whole.replace(': 1,', ': 2,')), /version 2/], [write('odd', 'null'), /version undefined/],
  ]) await rejects(readRecord(path), (error) => error instanceof SbxError && why.test(error.message));
});

test('the program is looked for where no other can be put', async (t) => {
  if (!await needSandbox(t)) return;
  const { dir } = folders(t);
  if (onPath('sbx')) return t.skip('another sbx is along PATH');
  const bin = ownFolder(t);
  for (const name of ['sbx', 'sbx-egress']) copyFileSync(join(dirname(sbx), name), join(bin, name));
  const before = process.env.PATH;
  t.after(() => (process.env.PATH = before));
  const options = { cmd: 'true', cwd: dir };
  const none = (error) => error instanceof SbxError && error.exitCode === undefined;
  await rejects(exec(options), (error) => none(error) && /@sbx\/linux-.*PATH.*install sbx/.test(error.message));
  await rejects(createProcessSandbox({ wrapper: 'none' }), /@sbx\/linux-.*PATH.*install sbx/);
  await rejects(exec({ ...options, sbx: join(dir, 'sbx') }), (error) => none(error) && /ENOENT/.test(error.message));
  const here = process.cwd();
  process.chdir(bin);
  t.after(() => process.chdir(here));
  process.env.PATH = `.::${before}`;
  await rejects(exec({ ...options, cwd: bin }), (error) => none(error) && /^there is no sbx/.test(error.message));
  process.env.PATH = before;
  // The command's PATH is not sbx's.
  await rejects(exec({ ...options, env: { PATH: `${bin}:${before}` } }), none);
  equal((await exec({ ...options, sbx: './sbx' })).exitCode, 0);
  process.env.PATH = `${bin}:${before}`;
  for (const named of [undefined, 'sbx']) equal((await exec({ ...options, sbx: named })).exitCode, 0);
  await rejects(exec({ ...options, sbx: 'sbx-none' }), none);
});

test('without a record there is an error, with what there is', async (t) => {
  const { dir, noneLeft } = folders(t);
  const fake = join(dir, 'fake');
  writeFileSync(fake, '#!/bin/sh\necho out; echo no space >&2; exit 125\n', { mode: 0o755 });
  await rejects(exec({ cmd: 'true', cwd: dir, sbx: fake }), (error) => {
    ok(error instanceof SbxError && !(error instanceof Refused));
    deepStrictEqual([error.exitCode, error.stdout], [125, 'out\n']);
    match(error.message, /no record was left[^]*no space/);
    return true;
  });
  noneLeft();
});

test('what is wrapped is the plain command as well', async (t) => {
  const dir = ownFolder(t);
  const sandbox = await createProcessSandbox({ wrapper: 'none', cwd: dir, sbx });
  for (const inv of [{ cmd: 'c', args: ['a'], env: { A: '1' }, cwd: dir }, { cmd: 'c', args: [], env: {} }]) {
    const { wrapped, audit, ...plain } = sandbox.wrap(inv);
    deepStrictEqual(plain, inv);
    deepStrictEqual(wrapped, { ...inv, mounts: [] });
    strictEqual(audit.wrappedCmd, 'c');
  }
});

test("the readme's example does what it says", async (t) => {
  if (!await needSandbox(t)) return;
  const [, example, , output] = /```js\n(.*?)```(.*?)```text\n(.*?)```/s.exec(readFileSync(join(folder, 'README.md'), 'utf8'));
  const dir = ownFolder(t);
  mkdirSync(join(dir, 'node_modules/@sbx'), { recursive: true });
  symlinkSync(folder, join(dir, 'node_modules/@sbx/process-sandbox'));
  writeFileSync(join(dir, 'example.mjs'), example);
  const child = spawn(process.execPath, ['example.mjs'], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PATH: `${join(root, 'bin')}:${process.env.PATH}` } });
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  const status = await new Promise((then) => child.on('close', then));
  deepStrictEqual([status, out], [0, output]);
});
