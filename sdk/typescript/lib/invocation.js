import { isText } from './bytes.js';
import { ProcessSandboxError, problem } from './problems.js';

/**
 * @typedef {import('../index.js').Problem} Problem
 * @typedef {import('../index.js').DirMount} DirMount
 * @typedef {import('../index.js').Invocation} Invocation
 * @typedef {{cmd: string, args: string[], env: [string, string][], cwd: string, mounts: DirMount[], ownEnv: boolean}} Taken
 */

const fields = ['cmd', 'args', 'env', 'cwd', 'mounts'];
const mountFields = ['kind', 'label', 'hostPath', 'guestPath', 'mode'];
const taking = 'take the invocation';
const from = 'the invocation';

// The most mounts that an invocation may have, and the most problems that are told.
const maxMounts = 256;
const maxProblems = 100;

/**
 * Takes an invocation apart, as strictly as sbx reads one from stdin.
 * @param {Invocation} inv
 * @returns {Taken}
 */
export function take(inv) {
  const reader = new Reader();
  const taken = reader.invocation(inv);
  const problems = reader.problems.length > 0 ? reader.problems : check(taken);
  if (problems.length > 0) throw new ProcessSandboxError(problems);
  return taken;
}

class Reader {
  /** @type {Problem[]} */
  problems = [];

  /**
   * @param {string} field
   * @param {string} why
   */
  refuse(field, why, help = '') {
    if (this.problems.length < maxProblems) this.problems.push(problem(field, from, taking, why, help));
  }

  /**
   * The members of an object, those that are undefined left out.
   * @param {string} at
   * @param {unknown} value
   * @param {string[]} [known]
   * @returns {[string, unknown][]}
   */
  object(at, value, known) {
    if (kindOf(value) !== 'an object') {
      this.refuse(at, `it is ${kindOf(value)}, and not an object`);
      return [];
    }
    const members = Object.entries(/** @type {object} */ (value)).filter(([, v]) => v !== undefined);
    for (const [key] of members) {
      if (known && !known.includes(key)) {
        this.refuse(at ? `${at}.${key}` : key, 'there is no such field', `the fields are ${known.join(', ')}`);
      }
    }
    return members;
  }

  /**
   * @param {string} at
   * @param {unknown} value
   */
  str(at, value) {
    if (typeof value !== 'string') {
      this.refuse(at, `it is ${kindOf(value)}, and not a string`);
      return '';
    }
    if (!isText(value)) this.refuse(at, 'it has half of a surrogate pair');
    return value;
  }

  /**
   * @param {string} at
   * @param {unknown} value
   * @returns {unknown[]}
   */
  list(at, value) {
    if (Array.isArray(value)) return Array.from(value); // holes become undefined, and are refused
    this.refuse(at, `it is ${kindOf(value)}, and not a list`);
    return [];
  }

  /**
   * @param {unknown} inv
   * @returns {Taken}
   */
  invocation(inv) {
    /** @type {Taken} */
    const taken = { cmd: '', args: [], env: [], cwd: '', mounts: [], ownEnv: true };
    for (const [key, value] of this.object('', inv, fields)) {
      switch (key) {
        case 'cmd':
          taken.cmd = this.str('cmd', value);
          break;
        case 'args':
          taken.args = this.list('args', value).map((a, i) => this.str(`args[${i}]`, a));
          break;
        case 'env':
          taken.env = this.env(value);
          taken.ownEnv = false;
          break;
        case 'cwd':
          taken.cwd = cleanEnd(this.str('cwd', value));
          break;
        case 'mounts':
          taken.mounts = this.list('mounts', value).map((m, i) => this.mount(`mounts[${i}]`, m));
          break;
      }
    }
    return taken;
  }

  /**
   * @param {unknown} value
   * @returns {[string, string][]}
   */
  env(value) {
    /** @type {[string, string][]} */
    const env = [];
    for (const [name, v] of this.object('env', value)) {
      if (name === '' || /[=\0]/.test(name) || !isText(name)) {
        this.refuse('env', "a variable's name is empty, or has = or a NUL byte");
        continue;
      }
      const text = this.str(`env.${name}`, v);
      if (text.includes('\0')) this.refuse(`env.${name}`, 'it has a NUL byte, which ends a variable');
      env.push([name, text]);
    }
    return env;
  }

  /**
   * @param {string} at
   * @param {unknown} value
   * @returns {DirMount}
   */
  mount(at, value) {
    /** @type {DirMount} */
    const m = { kind: 'dir', label: '', hostPath: '', guestPath: '', mode: 'ro' };
    const have = new Set();
    for (const [key, v] of this.object(at, value, mountFields)) {
      have.add(key);
      const text = mountFields.includes(key) ? this.str(`${at}.${key}`, v) : '';
      if (key === 'kind' && text !== 'dir') this.refuse(`${at}.kind`, 'the one kind is dir');
      if (key === 'label') m.label = text;
      if (key === 'hostPath') m.hostPath = cleanEnd(text);
      if (key === 'guestPath') m.guestPath = cleanEnd(text);
      if (key === 'mode') {
        if (text === 'ro' || text === 'rw') m.mode = text;
        else this.refuse(`${at}.mode`, 'it is neither ro nor rw');
      }
    }
    if (kindOf(value) === 'an object') {
      for (const key of ['hostPath', 'guestPath', 'mode']) {
        if (!have.has(key)) this.refuse(`${at}.${key}`, 'it is missing');
      }
    }
    if (m.label === '') m.label = m.guestPath.slice(m.guestPath.lastIndexOf('/') + 1);
    return m;
  }
}

/**
 * Refuses what is no invocation, whatever the sandbox.
 * @param {Taken} inv
 */
function check(inv) {
  /** @type {Problem[]} */
  const problems = [];
  const refuse = (/** @type {Parameters<typeof problem>} */ ...p) => {
    if (problems.length < maxProblems) problems.push(problem(...p));
  };
  const text = (/** @type {string} */ field, /** @type {string} */ s) => {
    if (s.includes('\0')) refuse(field, '', 'pass it on', 'it has a NUL byte, which ends an argument');
  };
  if (inv.cmd === '') refuse('cmd', '', 'wrap a command', 'it is empty', 'name a program');
  text('cmd', inv.cmd);
  inv.args.forEach((a, i) => text(`args[${i}]`, a));
  if (inv.cwd !== '' && unclean(inv.cwd)) {
    refuse('cwd', inv.cwd, 'start in it', unclean(inv.cwd), 'give an absolute path without . and ..');
  }
  if (inv.mounts.length > maxMounts) {
    refuse('mounts', '', 'mount them', `they are ${inv.mounts.length}, more than ${maxMounts}`, 'mount a directory that holds them');
    return problems;
  }
  inv.mounts.forEach((m, i) => {
    const at = `mounts[${i}]`;
    text(`${at}.label`, m.label);
    for (const [field, path] of [[`${at}.hostPath`, m.hostPath], [`${at}.guestPath`, m.guestPath]]) {
      if (unclean(path)) refuse(field, path, 'mount it', unclean(path), 'give an absolute path without . and ..');
    }
    for (let j = 0; j < i; j++) {
      if (inv.mounts[j].guestPath === m.guestPath) {
        refuse(`${at}.guestPath`, m.guestPath, 'mount it', `mounts[${j}] has the same`, 'give each mount a path of its own');
      }
    }
  });
  return problems;
}

/**
 * Why a path is not the one way to name what it names; "" where it is absolute and
 * clean.
 * @param {string} path
 */
function unclean(path) {
  if (path === '') return 'it is empty';
  if (path[0] !== '/') return 'it is relative';
  if (path.includes('\0')) return 'it has a NUL byte';
  if (path === '/') return '';
  for (const part of path.slice(1).split('/')) {
    if (part === '..') return 'it has ".."';
    if (part === '' || part === '.') return 'it is not clean';
  }
  return '';
}

/** @param {string} path */
function cleanEnd(path) {
  return path.replace(/\/+$/, '') || (path === '' ? '' : '/');
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'boolean': return 'true or false';
    case 'number': return 'a number';
    case 'string': return 'a string';
    case 'object': return 'an object';
    case 'undefined': return 'nothing';
  }
  return `a ${typeof value}`;
}
