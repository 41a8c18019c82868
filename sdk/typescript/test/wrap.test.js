// The package against `sbx wrap` itself.
import { deepStrictEqual, equal, match, ok, rejects, strictEqual, throws } from 'node:assert';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createProcessSandbox, ProcessSandboxError } from '../index.js';
import { ownFolder, random, run, sbx, wrappers } from './helpers.js';

const spec = { access_mode: 'workspace-write', environment: { pass: ['PATH', 'LANG', 'A*', 'É*', '[*', 'LD_*', 'TZDIR'], set: { SET: 'é "x"', API_KEY: 's3cret' } } };

/** A random invocation in dir, of which a part has credentials. */
function invocation({ below, pick }, dir, mounts) {
  const secret = `s3cret${'Ab9_'.repeat(below(9))}`;
  const pieces = ['run', '-v', `--dir=${dir}/data::/data`, `--token=${secret}`, ['--password', secret], `sk-${secret}${secret}xxxxxxxxxxxxxxxx`, `https://u:${secret}@h/x`,
    `Authorization: Bearer ${secret}9`, `{"token": "${secret}"}`, ['mysql', `-p${secret}`], `it's "odd"`, '', ' ', '$(x)', 'é漢😀', '\n', '/home/other/x y', '/usr/bin/env', `${dir}/sub`, '/data/x',
    'é'.repeat(511 + below(4)), `${'x'.repeat(below(4))}${'😀'.repeat(256)}`, `${'x'.repeat(8190)}漢字`, 'TO\u212aEN=x', '<redacted>', '--', '-I/home/o'];
  const plain = pieces.filter((p) => typeof p === 'string');
  const names = ['PATH', 'LANG', 'A', 'A-B', 'A1', 'SET', 'API_KEY', 'TOKEN', 'DOCKER_HOST', 'XDG_RUNTIME_DIR', 'HOME', 'É', '[x', '1', '__proto__', '\u{1f600}', '\uff5e', 'LD_PRELOAD', 'TZDIR'];
  const inv = { cmd: pick(['/usr/bin/wasmtime', 'wasmtime', `${dir}/tool`, 'mysql']), args: Array.from({ length: below(10) }, () => pick(pieces)).flat(), cwd: dir, mounts };
  if (below(30) === 0) inv.args = Array.from({ length: 1100 }, () => pick(pieces)).flat();
  if (below(4) > 0) inv.env = Object.fromEntries(Array.from({ length: below(9) }, () => [pick(names), pick(plain)]));
  return inv;
}

test('every wrapper answers as sbx does', async (t) => {
  const dir = ownFolder(t);
  mkdirSync(join(dir, 'data'));
  mkdirSync(join(dir, 'out'));
  const mounts = [
    { kind: 'dir', label: 'in', hostPath: `${dir}/data`, guestPath: '/data', mode: 'ro' },
    { kind: 'dir', label: '', hostPath: `${dir}/out/`, guestPath: '/some/out', mode: 'rw' }];
  process.env.API_TOKEN = 's3cret-of-the-server';
  t.after(() => delete process.env.API_TOKEN);
  const rng = random(42);
  for (const wrapper of wrappers) {
    for (const document of wrapper === 'none' ? [undefined] : [undefined, spec]) {
      const image = ['docker', 'podman', 'runsc'].includes(wrapper) ? 'example/image:1' : undefined;
      const ask = () => createProcessSandbox({ wrapper, spec: document, image, mounts, cwd: dir, sbx });
      let sandbox = await ask();
      strictEqual(sandbox.name, wrapper);
      const all = Array.from({ length: 40 }, () => invocation(rng, dir, mounts));
      const args = ['wrap', '--wrapper', wrapper, '--stream'];
      if (document) args.push('--spec-json', JSON.stringify(document));
      if (image) args.push('--image', image);
      let answered;
      for (let tries = 0; tries < 10; tries++) { // a name may come into being in / meanwhile
        answered = await run(args, all.map((inv) => `${JSON.stringify(inv)}\n`).join(''));
        const after = await ask();
        const same = isDeepStrictEqual(after.wrap(all[0]), sandbox.wrap(all[0]));
        sandbox = after;
        if (same) break;
      }
      const { out, err, status } = answered;
      equal(status, 0, err);
      const answers = out.trimEnd().split('\n').map((line) => JSON.parse(line));
      equal(answers.length, all.length);
      all.forEach((inv, i) => {
        const before = structuredClone(inv);
        const got = sandbox.wrap(inv);
        deepStrictEqual(inv, before, 'wrap changed what it was given');
        const { mounts: own, ...wrapped } = got.wrapped;
        deepStrictEqual({ wrapped, audit: got.audit }, answers[i], `${wrapper}: ${JSON.stringify(inv).slice(0, 800)}`);
        deepStrictEqual(own.map((m) => [m.label, m.hostPath]), [['in', `${dir}/data`], ['out', `${dir}/out`]]);
        deepStrictEqual(structuredClone(got), got);
        const told = got.audit.wrappedArgs.filter((a) => a.includes('s3cret') || a.includes(dir));
        deepStrictEqual(told, [], `the audit tells too much of ${JSON.stringify(inv).slice(0, 800)}`);
      });
    }
  }
});

test('the factory starts one process, wrap none', async (t) => {
  const dir = ownFolder(t);
  const log = join(dir, 'log');
  const counting = join(dir, 'sbx');
  writeFileSync(counting, `#!/bin/sh\necho "$*" >>'${log}'\nexec '${sbx}' "$@"\n`);
  chmodSync(counting, 0o755);
  const sandbox = await createProcessSandbox({ wrapper: 'bwrap', cwd: dir, sbx: counting });
  const asked = readFileSync(log, 'utf8');
  equal(asked.trimEnd().split('\n').length, 1, asked);
  writeFileSync(counting, '#!/bin/sh\nexit 1\n');
  const result = sandbox.wrap({ cmd: 'true', args: [], mounts: [] });
  ok(!(result instanceof Promise) && result.wrapped.args.includes('true'));
  equal(readFileSync(log, 'utf8'), asked);
});

test('bad invocations are refused as by sbx', async (t) => {
  const dir = ownFolder(t);
  const sandbox = await createProcessSandbox({ wrapper: 'bwrap', cwd: dir, sbx });
  const mount = { kind: 'dir', label: 'l', hostPath: dir, guestPath: '/data', mode: 'rw' };
  const base = { cmd: 'c', args: [], env: {}, cwd: dir, mounts: [] };
  const bad = [
    { cmd: '' }, { cmd: 1 }, { cmd: null }, { cmd: 'a\0b' }, { args: 'x' }, { args: [1] }, { args: ['a', 'b\0'] }, { args: {} }, { env: [] }, { env: { A: 1 } }, { env: { 'A=B': '' } },
    { env: { '': '' } }, { env: { A: '\0' } }, { env: { 'A\0': '' } }, { cwd: 'x' }, { cwd: '/a/../b' }, { cwd: '/a//b' }, { cwd: 1 }, { cwd: '/a\0b' }, { mounts: {} }, { mounts: ['x'] },
    { mounts: [{ ...mount, guestPath: 'data' }] }, { mounts: [{ ...mount, guestPath: '/../x' }] }, { mounts: [{ ...mount, hostPath: '' }] }, { mounts: [mount, mount] }, { mounts: [{ ...mount, mode: 'rwx' }] },
    { mounts: [{ ...mount, kind: 'file' }] }, { mounts: [{}] }, { mounts: [{ ...mount, label: 'a\0' }] }, { mounts: [{ ...mount, hostPath: '/a\0' }] }, { xyzzy: 1 }, { mounts: [{ ...mount, xyzzy: 1 }] },
    { args: Array(200).fill(1) }, { args: Array(200).fill('\0') }, { mounts: Array.from({ length: 257 }, (_, i) => ({ ...mount, guestPath: `/${i}` })) }];
  for (const change of bad) {
    const inv = { ...base, ...change };
    const answer = JSON.parse((await run(['wrap', '--wrapper', 'bwrap', '--json'], JSON.stringify(inv))).out);
    // What sbx finds at a place of its document the package finds in the invocation.
    const place = (p) => ({ ...p, on: p.on.startsWith('stdin') ? 'the invocation' : p.on });
    throws(() => sandbox.wrap(inv), (error) => {
      ok(error instanceof ProcessSandboxError);
      deepStrictEqual(error.problems, answer.problems.map(place), JSON.stringify(change));
      ok(error.message.includes(error.problems[0].reason));
      return true;
    }, JSON.stringify(change));
  }
  throws(() => sandbox.wrap({ ...base, cmd: '\ud800' }), /surrogate/);
  throws(() => sandbox.wrap({ ...base, args: [, 'x'] }), /args\[0\].*nothing/); // eslint-disable-line no-sparse-arrays
  throws(() => sandbox.wrap(undefined), ProcessSandboxError);
  throws(() => sandbox.wrap({ ...base, mounts: [{ ...mount, hostPath: '/root/elsewhere' }] }), /the sandbox does not show it|shows it read-only/);
  equal(sandbox.wrap({ ...base, env: { A: undefined } }).wrapped.env.A, undefined);
});

test('the factory tells why there is no sandbox', async (t) => {
  const dir = ownFolder(t);
  const fake = (answer) => {
    const file = join(dir, `fake${Math.random()}`);
    writeFileSync(file, `#!/bin/sh\ncat >/dev/null\ncat <<'EOF'\n${answer}\nEOF\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const no = (options, expected) => rejects(createProcessSandbox({ cwd: dir, sbx, ...options }), (error) => {
    ok(error instanceof ProcessSandboxError, String(error));
    ok(error.problems.length > 0);
    match(error.message, expected);
    return true;
  });
  await no({ wrapper: 'firejail' }, /firejail/);
  await no({}, /there is no wrapper/);
  await no({ wrapper: 'docker' }, /--image/);
  await no({ wrapper: 'bwrap', spec: { limits: { memory: '1MiB' } } }, /limits\.memory.*bwrap/);
  await no({ wrapper: 'bwrap', spec: {}, specJson: '{}' }, /both/);
  await no({ wrapper: 'bwrap', specJson: '{' }, /spec/);
  await no({ wrapper: 'bwrap', image_: 'x' }, /there is no image_/);
  await no({ wrapper: 'bwrap', cwd: 'relative' }, /it is relative/);
  await no({ wrapper: 'bwrap', mounts: [{ kind: 'dir', label: 'l', hostPath: `${dir}/none`, guestPath: '/g', mode: 'ro' }] }, /none/);
  await no({ wrapper: 'bwrap', sbx: join(dir, 'missing') }, /ENOENT.*install sbx/);
  await no({ wrapper: 'bwrap', sbx: fake('{"template": 1}') }, /its format is 1, and not 2/);
  await no({ wrapper: 'bwrap', sbx: fake('hello') }, /no JSON/);
  await no({ wrapper: 'bwrap', sbx: fake('') }, /said nothing/);
  await no({ wrapper: 'bwrap', mounts: [{ kind: 'dir', label: 'l', hostPath: sbx, guestPath: sbx, mode: 'ro' }] }, /it is not a directory/);
  for (const timeout of ['5', {}, true]) await rejects(createProcessSandbox({ wrapper: 'none', sbx, timeout }), TypeError);
  await rejects(createProcessSandbox({ wrapper: 'none', sbx, timeout: -1 }), RangeError);
});
