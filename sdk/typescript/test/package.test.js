// What is published, and whether its types hold.
import { deepStrictEqual, equal, match } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import * as offered from '../index.js';
import { exec } from '../index.js';
import { folder, needSandbox, onPath, ownFolder, root, sbx } from './helpers.js';

test('the package has what it needs, and no more', (t) => {
  if (!onPath('npm')) return t.skip('no npm');
  const home = ownFolder(t);
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'],
    { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, npm_config_cache: join(home, 'npm') } });
  const files = JSON.parse(out)[0].files.map((f) => f.path).sort();
  const lib = readdirSync(join(folder, 'lib')).map((f) => `lib/${f}`);
  deepStrictEqual(files, ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json', 'record.d.ts', ...lib].sort());
  equal(readFileSync(join(folder, 'LICENSE'), 'utf8'), readFileSync(join(root, 'LICENSE'), 'utf8'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const key of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) equal(manifest[key], undefined);
  match(manifest.scripts.test, /test\/\*\.test\.js$/); // a directory's every file would run: oracle.js waits for its stdin
});

test('npm puts the program for the platform beside it', async (t) => {
  if (!onPath('npm')) return t.skip('no npm');
  if (!['x64', 'arm64'].includes(process.arch)) return t.skip(`there is no package for ${process.arch}`);
  if (!await needSandbox(t)) return;
  const dir = ownFolder(t);
  const env = { ...process.env, PATH: (process.env.PATH ?? '').split(':').filter((d) => d !== '' && d !== dirname(sbx)).join(':'), npm_config_cache: join(dir, 'npm'), npm_config_userconfig: join(dir, 'npmrc') };
  const run = (cwd, program, ...args) => execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const other = process.arch === 'x64' ? 'arm64' : 'x64';
  const packed = run(root, join(root, 'scripts/npm.sh'), join(dir, 'out'), `${process.arch}=${dirname(sbx)}`, `${other}=${dirname(sbx)}`);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [own, ...rest] = [process.arch, other].map((arch) => `sbx-linux-${arch}-${version}.tgz`);
  const sdk = `sbx-process-sandbox-${version}.tgz`;
  deepStrictEqual(packed.trim().split('\n').sort(), [own, ...rest, sdk].sort());
  const script = `import { exec } from '@sbx/process-sandbox';
    try { const { stdout, record } = await exec({ cmd: 'echo', args: ['from inside'] }); console.log(stdout.trim(), record.state); }
    catch (error) { console.log(error.message); }`;
  const install = (app, ...tarballs) => {
    mkdirSync(join(dir, app));
    writeFileSync(join(dir, app, 'package.json'), '{}');
    run(join(dir, app), 'npm', 'install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...tarballs.map((file) => join(dir, 'out', file)));
    writeFileSync(join(dir, app, 'run.mjs'), script);
    return run(join(dir, app), process.execPath, 'run.mjs');
  };
  equal(install('whole', sdk, own), 'from inside exited\n');
  const programs = join(dir, 'whole/node_modules/@sbx', `linux-${process.arch}`, 'bin');
  deepStrictEqual(readdirSync(programs).map((name) => [name, statSync(join(programs, name)).mode & 0o777]), [['sbx', 0o755], ['sbx-broker', 0o755], ['sbx-egress', 0o755]]);
  if (onPath('sbx') === undefined) match(install('bare', sdk), /neither the package @sbx\/linux-/); // the control
  const manifest = JSON.parse(readFileSync(join(dir, 'whole/node_modules/@sbx/process-sandbox/package.json'), 'utf8'));
  deepStrictEqual(manifest.optionalDependencies, { '@sbx/linux-x64': version, '@sbx/linux-arm64': version });
});

test("the record's types are those of its schema", () => {
  const written = execFileSync(process.execPath, [join(root, 'scripts/record-types.mjs')], { encoding: 'utf8' });
  equal(readFileSync(join(folder, 'record.d.ts'), 'utf8'), written, 'run make generate');
  const keys = Object.keys(JSON.parse(execFileSync(sbx, ['schema', 'record'], { encoding: 'utf8' })).properties);
  deepStrictEqual([...written.matchAll(/^ {2}(\w+)\??: /gm)].map((m) => m[1]), keys);
});

const consumer = `
import { createProcessSandbox, exec, runWasi, Aborted, ExitError, ProcessSandboxError, Refused } from '@sbx/process-sandbox';
import type { EffectiveRecord, Invocation, ProcessSandbox, SandboxAuditRecord, Violation, WasiResult } from '@sbx/process-sandbox';

const own: ProcessSandbox = {
  name: 'own',
  wrap(inv: Invocation) {
    const audit: SandboxAuditRecord = { kind: 'process-sandbox', wrapperName: 'own', wrappedCmd: inv.cmd, wrappedArgs: [], mounts: [], truncated: false };
    return { wrapped: inv, audit };
  },
};
const sandbox: ProcessSandbox = await createProcessSandbox({ wrapper: 'bwrap', mounts: [{ kind: 'dir', label: 'd', hostPath: '/d', guestPath: '/d', mode: 'ro' }] });
const { wrapped, audit } = sandbox.wrap({ cmd: 'c', args: [], mounts: [] });
const args: string[] = wrapped.args;
const truncated: boolean = audit.truncated;
const result: WasiResult = await runWasi({ module: 'm', runner: 'wasmtime', processSandbox: own });
const audits: SandboxAuditRecord[] | undefined = result.sandboxAudits;
try {
} catch (error) {
  if (error instanceof ProcessSandboxError) { const help: string = error.problems[0].help; console.log(help); }
}
console.log(args, truncated, audits);
// What a program may have already, and gives to nobody that knows of sbx.
interface Existing {
  wrap: (inv: { cmd: string; args: string[]; env: Record<string, string>; cwd?: string }) => { cmd: string; args: string[]; env: Record<string, string>; cwd?: string };
}
const existing: Existing = await createProcessSandbox({ wrapper: 'bwrap' });
console.log(existing);
try {
  const { stdout, record } = await exec({ cmd: 'make', args: ['test'], spec: { access_mode: 'read-only' }, signal: new AbortController().signal, stdio: ['ignore', 'pipe', 2] });
  const bytes: Uint8Array = (await exec({ cmd: 'make', encoding: 'buffer' })).stdout;
  const violations: Violation[] = record.violations;
  const wall: number | undefined = record.usage?.wall_ms;
  console.log(stdout.trim(), bytes, violations, wall);
} catch (error) {
  if (error instanceof Refused) console.log(error.field.trim(), error.help.trim(), error.record.error?.reason);
  if (error instanceof ExitError) console.log(error.exitCode + 1, error.result.record.exit?.signal);
  if (error instanceof Aborted) console.log(error.code, error.record?.state);
}
// @ts-expect-error its time is the spec's
await exec({ cmd: 'make', timeout: 5 });
// @ts-expect-error there is no such wrapper
await createProcessSandbox({ wrapper: 'firejail' });
// @ts-expect-error a mount has a mode
sandbox.wrap({ cmd: 'c', args: [], mounts: [{ kind: 'dir', label: 'd', hostPath: '/d', guestPath: '/d' }] });
// @ts-expect-error wrap is synchronous
sandbox.wrap({ cmd: 'c', args: [], mounts: [] }).then();
// @ts-expect-error it is read-only
sandbox.name = 'x';
`;

test('its types hold, and so does the source by them', async (t) => {
  const { status, stdout } = spawnSync(join(root, 'scripts/typescript.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status === 3) return t.skip('typescript could not be installed');
  equal(status, 0);
  const modules = stdout.trim();
  const dir = ownFolder(t);
  mkdirSync(join(dir, 'node_modules/@sbx'), { recursive: true });
  symlinkSync(folder, join(dir, 'node_modules/@sbx/process-sandbox'));
  writeFileSync(join(dir, 'package.json'), '{"type": "module"}');
  writeFileSync(join(dir, 'consumer.ts'), consumer);
  const tsc = (...args) => spawnSync(process.execPath, [join(modules, 'typescript/lib/tsc.js'), '--typeRoots', join(modules, '@types'), ...args], { encoding: 'utf8', cwd: dir });
  const flags = ['--strict', '--noEmit', '--target', 'es2022', '--types', 'node', '--exactOptionalPropertyTypes'];
  // An error of a consumer's is found, and it is the only one.
  writeFileSync(join(dir, 'wrong.ts'), "import type { DirMount } from '@sbx/process-sandbox';\nexport const label: DirMount['label'] = 1;\n");
  // So is a key of a record that no type has; a real record fits.
  const files = ['consumer.ts', 'wrong.ts'];
  if (await needSandbox(t)) {
    const { record } = await exec({ cmd: 'sh', args: ['-c', 'echo x >/usr/x; true'], cwd: dir, spec: { access_mode: 'read-only', limits: { timeout: '1m' } }, sbx });
    const typed = (name, value) => writeFileSync(join(dir, name), `import type { EffectiveRecord } from '@sbx/process-sandbox';\nexport const record: EffectiveRecord = ${JSON.stringify(value)};\n`);
    typed('record.ts', record);
    typed('wrong-record.ts', { ...record, exit: { ...record.exit, xyzzy: 1 } });
    files.push('record.ts', 'wrong-record.ts');
  }
  const consumers = tsc(...flags, '--module', 'nodenext', ...files).stdout.trim().split('\n');
  equal(consumers.length, files.length / 2, consumers.join('\n'));
  if (files.length > 2) match(consumers.shift(), /^wrong-record\.ts\(2,\d+\): error TS2353: .*xyzzy/);
  match(consumers[0], /^wrong\.ts\(2,14\): error TS2322/);
  const source = tsc('-p', folder);
  equal(source.status, 0, source.stdout);
});

test('the types name what there is', () => {
  const declared = [...readFileSync(join(folder, 'index.d.ts'), 'utf8').matchAll(/^export (?:function|class) (\w+)/gm)].map((m) => m[1]);
  deepStrictEqual(Object.keys(offered).sort(), [...new Set(declared)].sort()); // exec is declared twice
});
