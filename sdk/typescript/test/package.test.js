// What is published, and whether its types hold.
import { deepStrictEqual, equal, match } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as offered from '../index.js';
import { folder, onPath, ownFolder, root } from './helpers.js';

test('the package has what it needs, and no more', (t) => {
  if (!onPath('npm')) return t.skip('no npm');
  const home = ownFolder(t);
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'],
    { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, npm_config_cache: join(home, 'npm') } });
  const files = JSON.parse(out)[0].files.map((f) => f.path).sort();
  const lib = readdirSync(join(folder, 'lib')).map((f) => `lib/${f}`);
  deepStrictEqual(files, ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json', ...lib].sort());
  equal(readFileSync(join(folder, 'LICENSE'), 'utf8'), readFileSync(join(root, 'LICENSE'), 'utf8'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const key of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) equal(manifest[key], undefined);
  match(manifest.scripts.test, /test\/\*\.test\.js$/); // a folder's every file would run: oracle.js waits for its stdin
});

const consumer = `
import { createProcessSandbox, runWasi, ProcessSandboxError } from '@sbx/process-sandbox';
import type { Invocation, ProcessSandbox, SandboxAuditRecord, WasiResult } from '@sbx/process-sandbox';

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
// @ts-expect-error there is no such wrapper
await createProcessSandbox({ wrapper: 'firejail' });
// @ts-expect-error a mount has a mode
sandbox.wrap({ cmd: 'c', args: [], mounts: [{ kind: 'dir', label: 'd', hostPath: '/d', guestPath: '/d' }] });
// @ts-expect-error wrap is synchronous
sandbox.wrap({ cmd: 'c', args: [], mounts: [] }).then();
// @ts-expect-error it is read-only
sandbox.name = 'x';
`;

test('its types hold, and so does the source by them', (t) => {
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
  const consumers = tsc(...flags, '--module', 'nodenext', 'consumer.ts', 'wrong.ts').stdout.trim().split('\n');
  equal(consumers.length, 1, consumers.join('\n'));
  match(consumers[0], /^wrong\.ts\(2,14\): error TS2322/);
  const source = tsc('-p', folder);
  equal(source.status, 0, source.stdout);
});

test('the types name what there is', () => {
  const declared = [...readFileSync(join(folder, 'index.d.ts'), 'utf8').matchAll(/^export (?:function|class) (\w+)/gm)].map((m) => m[1]);
  deepStrictEqual(Object.keys(offered).sort(), declared.sort());
});
