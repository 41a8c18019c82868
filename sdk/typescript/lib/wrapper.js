import { Auditor } from './audit.js';
import { Environment, inOrder, own } from './environment.js';
import { take } from './invocation.js';
import { under } from './labels.js';
import { ProcessSandboxError, problem } from './problems.js';

/**
 * @typedef {import('./template.js').Template} Template
 * @typedef {import('../index.js').Invocation} Invocation
 * @typedef {import('../index.js').WrappedCommand} WrappedCommand
 * @typedef {import('../index.js').DirMount} DirMount
 * @typedef {import('./invocation.js').Taken} Taken
 */

/** Wraps by a template, as sbx does. It asks nothing and starts nothing. */
export class TemplateSandbox {
  #template;
  #head;
  #line;
  #environment;
  #auditor;

  /** @param {Template} template */
  constructor(template) {
    this.#template = template;
    const slots = template.line.findIndex((word) => typeof word !== 'string');
    const same = slots < 0 ? template.line.length : slots;
    this.#head = /** @type {string[]} */ (template.line.slice(0, same));
    this.#line = template.line.slice(same);
    this.#environment = template.env && new Environment(template.env);
    this.#auditor = new Auditor(template);
    /** @readonly */
    this.name = template.wrapper;
  }

  /**
   * @param {Invocation} invocation
   * @returns {WrappedCommand}
   */
  wrap(invocation) {
    const inv = take(invocation);
    const bare = this.name === 'none';
    if (!bare) this.#check(inv.mounts);
    const environ = inv.ownEnv ? own() : inOrder(inv.env);
    const env = this.#environment ? this.#environment.filter(environ) : environ;
    const clients = this.#environment ? this.#environment.clients(env, environ) : environ;
    const cmd = bare ? inv.cmd : this.#template.cmd;
    const rest = bare ? inv.args : this.#fill(inv, env, new Map(clients));
    /** @type {import('../index.js').Command} */
    const plain = { cmd, args: bare ? rest : [...this.#head, ...rest], env: Object.fromEntries(clients) };
    if (inv.cwd !== '') plain.cwd = inv.cwd;
    return { ...plain, wrapped: { ...plain, mounts: inv.mounts }, audit: this.#auditor.audit(cmd, rest, inv.mounts) };
  }

  /**
   * Puts an invocation into the line, from its first slot on.
   * @param {Taken} inv
   * @param {[string, string][]} env
   * @param {Map<string, string>} clients
   */
  #fill(inv, env, clients) {
    /** @type {string[]} */
    const args = [];
    for (const word of this.#line) {
      if (typeof word === 'string') {
        args.push(word);
        continue;
      }
      if (word.flag !== '' && (word.slot === 'cwd' || word.slot === 'cmd')) args.push(word.flag);
      switch (word.slot) {
        case 'cwd':
          args.push(this.#dir(inv.cwd));
          break;
        case 'cmd':
          args.push(inv.cmd);
          break;
        case 'args':
          for (const a of inv.args) args.push(a);
          break;
        case 'heeded':
          for (const [name, value] of env) if (this.#environment?.isHeeded(name)) args.push(word.flag, name, value);
          break;
        case 'env':
          for (const variable of env) args.push(word.flag, this.#environment ? this.#environment.told(variable, clients) : variable[0]);
          break;
      }
    }
    return args;
  }

  /**
   * Where the command starts: where the caller says, if that is in view.
   * @param {string} cwd
   */
  #dir(cwd) {
    const dir = cwd === '' ? this.#template.folders.cwd : cwd;
    return this.#view(dir).seen ? dir : '/';
  }

  /**
   * Tells whether a path of the host is seen inside under the same name, and whether
   * it can be written there.
   * @param {string} path
   */
  #view(path) {
    const { view } = this.#template.folders;
    for (let i = view.length - 1; i >= 0; i--) {
      const [at, shown] = view[i];
      if (!under(path, at)) continue;
      if (shown === 'tmpfs' || shown === 'dir') return { rw: shown === 'tmpfs', seen: path === at };
      return { rw: shown === 'rw', seen: shown !== 'no' };
    }
    return { rw: false, seen: false };
  }

  /**
   * Refuses mounts that the sandbox does not show so.
   * @param {DirMount[]} mounts
   */
  #check(mounts) {
    const asked = this.#template.folders.mounts;
    const problems = mounts.flatMap((m, i) => {
      if (asked.some((a) => a.label === m.label && a.hostPath === m.hostPath && a.guestPath === m.guestPath && a.mode === m.mode)) return [];
      const { rw, seen } = this.#view(m.hostPath);
      if (seen && rw === (m.mode === 'rw')) return [];
      const why = !seen ? 'the sandbox does not show it' : rw ? 'the sandbox lets it be written' : 'the sandbox shows it read-only';
      return [problem(`mounts[${i}]`, m.hostPath, `mount it ${m.mode}`, why,
        'name the mount when the wrapper is made, or open it in the spec')];
    });
    if (problems.length > 0) throw new ProcessSandboxError(problems);
  }
}
