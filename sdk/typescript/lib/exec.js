import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { movedDocument } from './document.js';
import { Aborted, ExitError, Refused, SbxError } from './errors.js';
import { findProgram, platformPackage } from './program.js';
import { readRecord } from './record.js';

/**
 * @typedef {import('../index.js').ExecOptions} ExecOptions
 * @typedef {import('../index.js').ExecResult<string | Uint8Array>} Result
 * @typedef {{exitCode: number, stdout: string | Uint8Array, stderr: string | Uint8Array}} Ended
 */

const known = ['cmd', 'args', 'env', 'cwd', 'spec', 'specFile', 'stdin', 'stdio', 'encoding', 'check', 'signal', 'killSignal', 'sbx'];

/**
 * Runs a command in a sandbox, to its end.
 * @param {ExecOptions} options
 * @returns {Promise<any>} a Result, of strings or of bytes
 */
export async function exec(options) {
  check(options);
  const { cmd, cwd, spec, specFile, signal, sbx } = options;
  const program = findProgram(sbx);
  if (program === undefined) {
    throw new SbxError(sbx === undefined
      ? `there is no sbx: neither the package ${platformPackage} nor one along PATH; install sbx, or give its path as the option sbx`
      : `there is no ${sbx} along PATH`);
  }
  if (signal?.aborted) throw new Aborted(signal.reason);
  // Its own user's alone; in a sandbox nobody sees it.
  const dir = await mkdtemp(join(resolve(tmpdir()), 'sbx-'));
  try {
    const document = join(dir, 'spec.json');
    const effective = join(dir, 'effective.json');
    const args = ['exec', '-q', '--effective', effective];
    if (spec !== undefined) {
      await writeFile(document, movedDocument(spec, cwd ?? '.'), { mode: 0o600 });
      args.push('--spec', document);
    } else if (specFile !== undefined) {
      args.push('--spec', resolve(specFile));
    } else {
      args.push('--no-project-spec');
    }
    const ended = await run(program, [...args, '--', cmd, ...(options.args ?? [])], options);
    const aborted = signal?.aborted && ended.killed;
    /** @type {Result} */
    let result;
    try {
      result = { exitCode: ended.exitCode, stdout: ended.stdout, stderr: ended.stderr, record: await readRecord(effective) };
    } catch (error) {
      if (aborted) throw new Aborted(signal.reason, ended);
      throw error instanceof SbxError ? new SbxError(told(error, ended), ended) : error;
    }
    if (aborted) throw new Aborted(signal.reason, result, result.record);
    const { error } = result.record;
    if (error) throw new Refused(error.on?.startsWith(document) ? { ...error, on: 'spec' } : error, result);
    if (options.check && result.exitCode !== 0) throw new ExitError(cmd, result);
    return result;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Why there is no record, with what sbx said of it where it failed before.
 * @param {Error} error
 * @param {Ended} ended
 */
function told({ message }, { exitCode, stderr }) {
  const said = exitCode === 125 || exitCode === 2 ? Buffer.from(stderr).toString().trim() : '';
  return said ? `${message}\n${said}` : message;
}

/** @param {ExecOptions} options */
function check(options) {
  const wrong = (/** @type {string} */ why) => new TypeError(`exec: ${why}`);
  const unknown = Object.keys(options ?? {}).find((key) => !known.includes(key));
  if (unknown !== undefined) throw wrong(`there is no option ${unknown}; the options are ${known.join(', ')}`);
  const { cmd, args, spec, specFile, stdin, stdio, encoding, killSignal } = options ?? {};
  if (typeof cmd !== 'string' || cmd === '') throw wrong('there is no cmd');
  if (args !== undefined && !(Array.isArray(args) && Array.from(args).every((a) => typeof a === 'string'))) throw wrong('args is to be a list of strings');
  if (spec !== undefined && specFile !== undefined) throw wrong('there are both spec and specFile');
  if (stdio !== undefined && !(Array.isArray(stdio) && stdio.length === 3)) throw wrong('stdio is to be a list of three, for stdin, stdout and stderr');
  if (stdin !== undefined && stdio !== undefined && stdio[0] !== 'pipe') throw wrong('stdin is written to a pipe, and stdio has none there');
  if (encoding !== undefined && encoding !== 'utf8' && encoding !== 'buffer') throw wrong('encoding is to be utf8 or buffer');
  if (killSignal !== undefined && !Object.hasOwn(constants.signals, killSignal)) throw wrong(`there is no signal ${killSignal}`);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {ExecOptions} options
 * @returns {Promise<Ended & {killed: boolean}>}
 */
function run(program, args, { env, cwd, stdin, stdio = ['pipe', 'pipe', 'pipe'], encoding, signal, killSignal = 'SIGKILL' }) {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { env, cwd, stdio, argv0: 'sbx' });
    const output = [child.stdout, child.stderr].map((stream) => {
      /** @type {Buffer[]} */
      const chunks = [];
      stream?.on('data', (chunk) => chunks.push(chunk));
      return { stream, bytes: () => Buffer.concat(chunks) };
    });
    let killed = false;
    /** @type {NodeJS.Timeout | undefined} */
    let grace;
    const kill = () => {
      killed = child.kill(killSignal);
    };
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill(); // meanwhile
    child.stdin?.on('error', () => {}); // the command has ended without reading
    child.stdin?.end(stdin);
    child.on('error', (error) => {
      signal?.removeEventListener('abort', kill);
      failed(new SbxError(`cannot start sbx in ${cwd ?? process.cwd()}: ${error.message}`));
    });
    child.on('exit', () => {
      signal?.removeEventListener('abort', kill);
      // What nothing held may live on with the pipes: it is not waited for.
      if (killed) grace = setTimeout(() => output.forEach(({ stream }) => stream?.destroy()), 1000);
    });
    child.on('close', (code, by) => {
      clearTimeout(grace);
      const [stdout, stderr] = output.map(({ bytes }) => (encoding === 'buffer' ? bytes() : bytes().toString()));
      done({ exitCode: code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (by)], stdout, stderr, killed });
    });
  });
}
