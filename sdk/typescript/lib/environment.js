import { toBytes, upper } from './bytes.js';

/** @typedef {import('./template.js').Template} Template */

/** What of the caller's variables a command gets. Names and globs are bytes. */
export class Environment {
  /** @param {NonNullable<Template['env']>} rules */
  constructor(rules) {
    this.set = new Map(rules.set);
    this.loaders = rules.loaders;
    this.any = rules.any;
    this.pass = rules.pass && rules.pass.map(toBytes);
    this.credentials = rules.credentials;
    this.drop = new Set(rules.drop);
    this.clientsNeed = rules.clientsNeed;
    this.clientsEngine = rules.clientsEngine;
    this.heededPrefixes = rules.heededPrefixes;
    this.heeded = new Set(rules.heeded);
  }

  /**
   * @param {[string, string][]} environ
   * @returns {[string, string][]}
   */
  filter(environ) {
    /** @type {Map<string, string>} */
    const env = new Map();
    for (const [name, value] of environ) {
      const given = this.set.get(name);
      if (given !== undefined) env.set(name, given);
      else if (!this.loaders.some((l) => name.startsWith(l)) && this.passes(name, value)) env.set(name, value);
    }
    for (const [name, value] of this.set) if (!env.has(name)) env.set(name, value);
    for (const name of this.drop) env.delete(name);
    return [...env];
  }

  /**
   * The environment of the tool itself: the command's, but for what would change the
   * tool, which runs outside; and for the client of an engine what it needs to find
   * that, as the caller has it.
   * @param {[string, string][]} env the command's
   * @param {[string, string][]} callers
   */
  clients(env, callers) {
    return [...callers.filter(([name]) => this.toolsOwn(name)), ...env.filter(([name]) => !this.toolsOwn(name) && !this.isHeeded(name))];
  }

  /**
   * How a variable is told on the tool's command line: by its name, or with its value
   * where the client's is another.
   * @param {[string, string]} variable
   * @param {Map<string, string>} clients
   */
  told([name, value], clients) {
    return this.clientsNeed.includes(name) || clients.get(name) !== value ? `${name}=${value}` : name;
  }

  /**
   * Whether a variable is one that the loader or the library of any program heeds.
   * @param {string} name
   */
  isHeeded(name) {
    return this.heeded.has(name) || this.heededPrefixes.some((prefix) => name.startsWith(prefix));
  }

  /** @param {string} name */
  toolsOwn(name) {
    return this.clientsNeed.includes(name) || this.clientsEngine.some((prefix) => name.startsWith(prefix));
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  passes(name, value) {
    if (this.any) return true;
    const bytes = toBytes(name);
    if (this.pass) return this.pass.some((g) => matches(g, bytes));
    const capital = upper(bytes);
    const found = this.credentials.find(([g, , inURL]) => matches(g, capital) && (!inURL || hasPassword(value)));
    return !found || found[1];
  }
}

/**
 * Whether a text holds a URL with a password in it, scheme://user:password@host. Of
 * http and https a user alone is as much.
 * @param {string} text
 */
export function hasPassword(text) {
  const parts = text.split('://');
  return parts.slice(1).some((rest, i) => {
    const scheme = (/[a-z0-9+.-]*$/i.exec(parts[i]) ?? [''])[0].toLowerCase();
    // What the next "://" ends goes on to it: its first colon is then the last byte.
    const [authority] = (i + 2 < parts.length ? `${rest}:/` : rest).split(/[/?#\\ \t\n"'<>]/);
    const at = authority.lastIndexOf('@');
    if (scheme === '' || at <= 0) return false;
    const colon = authority.slice(0, at).indexOf(':');
    return (colon >= 0 && colon + 1 < at) || scheme === 'http' || scheme === 'https';
  });
}

/**
 * Matches a name with a glob of "*" and "?", the latter of which is one byte.
 * @param {string} glob
 * @param {string} name
 */
function matches(glob, name) {
  // Where the last "*" can take one byte more, go back to it.
  let [star, retry, g, n] = [-1, 0, 0, 0];
  while (n < name.length) {
    if (glob[g] === '*') {
      star = g++;
      retry = n;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === name[n])) {
      g++;
      n++;
    } else if (star >= 0) {
      g = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return /^\**$/.test(glob.slice(g));
}

/**
 * The order that sbx has where there is none: that of NAME=value in bytes.
 * @param {[string, string][]} env
 */
export function inOrder(env) {
  return env.map(([n, v]) => /** @type {const} */ ([toBytes(`${n}=${v}`), n, v]))
    .sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
    .map(([, n, v]) => /** @type {[string, string]} */ ([n, v]));
}

/** This process's own environment, in its order. */
export function own() {
  /** @type {[string, string][]} */
  const env = [];
  for (const name of Object.keys(process.env)) {
    const value = process.env[name];
    if (name !== '' && value !== undefined) env.push([name, value]);
  }
  return env;
}
