import { spawn } from 'node:child_process';
import { checkTimeout, ProcessSandboxError, problem } from './problems.js';

/**
 * @typedef {import('../index.js').RunWasiOptions} RunWasiOptions
 * @typedef {import('../index.js').WasiResult} WasiResult
 * @typedef {import('../index.js').Invocation} Invocation
 * @typedef {import('../index.js').DirMount} DirMount
 */

/**
 * Runs a WASI module by a runner's command, which a sandbox may wrap.
 * @param {RunWasiOptions} options
 * @returns {Promise<WasiResult>}
 */
export async function runWasi(options) {
  const { processSandbox, stdin, timeout } = options;
  checkTimeout(timeout);
  let invocation = invocationOf(options);
  /** @type {WasiResult['sandboxAudits']} */
  let sandboxAudits;
  if (processSandbox) {
    const { wrapped, audit } = processSandbox.wrap(invocation);
    invocation = wrapped;
    sandboxAudits = [audit];
  }
  const result = await run(invocation, stdin, timeout);
  if (sandboxAudits) result.sandboxAudits = sandboxAudits;
  return result;
}

/**
 * How each runner's command is told. A directory is told by its path on the host and
 * its name for the guest; wasmtime has no read-only ones, a sandbox around it has.
 *
 * @type {Record<string, {folder: (m: DirMount) => string[], apart: string, variable: (v: string) => string[]}>}
 */
const runners = {
  wasmtime: {
    folder: (m) => ['--dir', `${m.hostPath}::${m.guestPath}`],
    apart: '::',
    variable: (v) => ['--env', v],
  },
  wazero: {
    folder: (m) => [`-mount=${m.hostPath}:${m.guestPath}${m.mode === 'ro' ? ':ro' : ''}`],
    apart: ':',
    variable: (v) => [`-env=${v}`],
  },
};

/**
 * The runner's command line. It is the same with and without a sandbox.
 * @param {RunWasiOptions} options
 * @returns {Invocation}
 */
export function invocationOf({ module, args = [], env = {}, mounts = [], runner, runnerEnv, cwd }) {
  const name = runner.slice(runner.lastIndexOf('/') + 1);
  const how = Object.entries(runners).find(([known]) => name.startsWith(known))?.[1];
  if (!how) throw refusal('runner', runner, 'its flags are not known', 'use wasmtime or wazero, or a path that ends in such a name');
  mounts.forEach((m, i) => {
    for (const path of [m.hostPath, m.guestPath]) {
      if (path.includes(how.apart)) throw refusal(`mounts[${i}]`, path, `${name} cannot be told of a path with "${how.apart}"`);
    }
  });
  /** @type {Invocation} */
  const inv = {
    cmd: runner,
    args: ['run', ...mounts.flatMap(how.folder), ...Object.entries(env).flatMap(([n, v]) => how.variable(`${n}=${v}`)),
      module.startsWith('-') ? `./${module}` : module, ...args],
    mounts,
  };
  if (runnerEnv !== undefined) inv.env = runnerEnv;
  if (cwd !== undefined) inv.cwd = cwd;
  return inv;
}

/**
 * @param {string} field
 * @param {string} on
 * @param {string} why
 */
function refusal(field, on, why, help = '') {
  return new ProcessSandboxError([problem(field, on, 'run the module', why, help)]);
}

/**
 * @param {Invocation} inv
 * @param {string | Uint8Array} [stdin]
 * @param {number} [timeout]
 * @returns {Promise<WasiResult>}
 */
function run(inv, stdin, timeout) {
  return new Promise((resolve, reject) => {
    const child = spawn(inv.cmd, inv.args, { cwd: inv.cwd, env: inv.env, stdio: ['pipe', 'pipe', 'pipe'], timeout, killSignal: 'SIGKILL' });
    /** @type {Buffer[]} */
    const out = [];
    /** @type {Buffer[]} */
    const err = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => err.push(chunk));
    child.stdin.on('error', () => {}); // it has ended without reading
    child.on('error', (error) => reject(refusal('', inv.cmd, error.message, 'install it, or give its path')));
    child.on('close', (code, signal) => {
      /** @type {WasiResult} */
      const result = { exitCode: code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
      if (signal) result.signal = signal;
      resolve(result);
    });
    child.stdin.end(stdin);
  });
}
