// What the tests share: where sbx and the runners are, and why a test is skipped.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exec, Refused } from '../index.js';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const folder = fileURLToPath(new URL('../', import.meta.url));
export const sbx = process.env.SBX ?? join(root, 'bin/sbx');
export const wrappers = /** @type {const} */ (['sbx', 'bwrap', 'nsjail', 'runsc', 'docker', 'podman', 'none']);

/** A directory that the test has to itself. */
export function ownFolder(t) {
  const dir = mkdtempSync(join(process.env.SBX_TEST_ELSEWHERE || tmpdir(), 'sbx-sdk.'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A program along PATH. */
export function onPath(name) {
  for (const dir of (process.env.PATH ?? '').split(':')) {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return join(dir, name);
    } catch {}
  }
  return undefined;
}

let built;

/** The directory of wazero and job.wasm; undefined where they cannot be built. */
export function wasiFolder() {
  if (built === undefined) {
    built = process.env.SBX_TEST_WASI ?? '';
    if (built === '') {
      const dir = mkdtempSync(join(tmpdir(), 'sbx-wasi.'));
      process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
      try {
        execFileSync(join(root, 'scripts/wasi.sh'), [dir], { stdio: ['ignore', 'inherit', 'inherit'] });
        built = dir;
      } catch {
        built = 'none';
      }
    }
  }
  return existsSync(join(built, 'wazero')) ? built : undefined;
}

/** Runs sbx to its end. */
export function run(args, input = '', options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(sbx, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    const out = [];
    const err = [];
    child.stdout.on('data', (c) => out.push(c));
    child.stderr.on('data', (c) => err.push(c));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }));
    child.stdin.end(input);
  });
}

/** Tells whether this host can hold a sandbox; skips the test where it cannot. */
export async function needSandbox(t) {
  try {
    await exec({ cmd: 'true', cwd: tmpdir(), spec: { access_mode: 'read-only' }, sbx });
    return true;
  } catch (error) {
    if (!(error instanceof Refused) || process.env.SBX_TEST_MUST_RUN === '1') throw error;
    t.skip(`no sandbox on this host: ${error.message}`);
    return false;
  }
}

/** Random numbers from a seed (mulberry32). */
export function random(seed) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, pick: (list) => list[below(list.length)] };
}
