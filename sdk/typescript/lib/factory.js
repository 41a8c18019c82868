import { spawn } from 'node:child_process';
import { documentOf } from './document.js';
import { checkTimeout, ProcessSandboxError, problem } from './problems.js';
import { findProgram, platformPackage } from './program.js';
import { parseTemplate } from './template.js';
import { TemplateSandbox } from './wrapper.js';

/**
 * @typedef {import('../index.js').ProcessSandboxOptions} ProcessSandboxOptions
 * @typedef {import('../index.js').ProcessSandbox} ProcessSandbox
 */

const known = ['wrapper', 'spec', 'specJson', 'image', 'mounts', 'cwd', 'sbx', 'timeout'];
const asking = 'ask sbx how to wrap';
const install = 'install sbx, or give its path as the option sbx';

/** The most that sbx may answer. */
const maxAnswer = 64 << 20;

/**
 * Asks sbx, once, what it needs to wrap.
 * @param {ProcessSandboxOptions} options
 * @returns {Promise<ProcessSandbox>}
 */
export async function createProcessSandbox(options) {
  const { program, args, input, timeout } = question(options);
  const { text, errors, status } = await ask(program, args, input, timeout);
  if (text.trim() === '') {
    throw refusal(program, errors.trim() || `it ended with ${status} and said nothing`);
  }
  try {
    return new TemplateSandbox(parseTemplate(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refusal(program, `its answer is no JSON (${error.message})`, 'is it sbx, and of this release?');
  }
}

/** @param {ProcessSandboxOptions} options */
function question(options) {
  const unknown = Object.keys(options ?? {}).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw refusal('the options', `there is no ${unknown}`, `the options are ${known.join(', ')}`);
  }
  const { wrapper, spec, specJson, image, mounts, cwd, sbx, timeout } = options ?? {};
  checkTimeout(timeout);
  if (typeof wrapper !== 'string') throw refusal('the options', 'there is no wrapper', 'name sbx, bwrap, nsjail, runsc, docker, podman or none');
  if (spec !== undefined && specJson !== undefined) throw refusal('the options', 'there are both spec and specJson', 'give one of the two');
  const args = ['wrap', '--wrapper', wrapper, '--template'];
  const document = spec === undefined ? specJson : documentOf(spec);
  if (document !== undefined) args.push('--spec-json', document);
  if (image !== undefined) args.push('--image', image);
  const program = findProgram(sbx);
  if (program === undefined) {
    throw refusal(sbx ?? 'sbx', `it is ${sbx === undefined ? `neither in the package ${platformPackage} nor` : 'not'} along PATH`, install);
  }
  return { program, args, input: JSON.stringify({ cwd: cwd ?? process.cwd(), mounts: mounts ?? [] }), timeout: timeout ?? 30_000 };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} input
 * @param {number} timeout
 * @returns {Promise<{text: string, errors: string, status: string}>}
 */
function ask(program, args, input, timeout) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout, killSignal: 'SIGKILL' });
    /** @type {Buffer[]} */
    const out = [];
    /** @type {Buffer[]} */
    const err = [];
    let size = 0;
    const keep = (/** @type {Buffer[]} */ list) => (/** @type {Buffer} */ chunk) => {
      size += chunk.length;
      if (size > maxAnswer) child.kill('SIGKILL');
      else list.push(chunk);
    };
    child.stdout.on('data', keep(out));
    child.stderr.on('data', keep(err));
    child.stdin.on('error', () => {}); // it has refused without reading: its answer says why
    child.on('error', (error) => reject(refusal(program, error.message, install)));
    child.on('close', (code, signal) => {
      resolve({ text: Buffer.concat(out).toString(), errors: Buffer.concat(err).toString(), status: signal ?? `status ${code}` });
    });
    child.stdin.end(input);
  });
}

/**
 * @param {string} on
 * @param {string} why
 */
function refusal(on, why, help = '') {
  return new ProcessSandboxError([problem('', on, asking, why, help)]);
}
