import { toBytes, upper } from './bytes.js';
import { dataSource } from './source.js';

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
 * Whether a text holds an address with a password in it: scheme://user:password@host, the
 * same without the scheme, a password as a parameter, a data source's name. Of http and
 * https a user alone is as much.
 * @param {string} text
 */
export function hasPassword(text) {
  return text.split(/[\\ \t\n"'<>]/).some((word) => dataSource(word) !== undefined || passwordInURL(word));
}

/** @param {string} word */
function passwordInURL(word) {
  const parts = word.split('//');
  let parameters = '';
  for (let i = 1; i < parts.length; i++) {
    const before = parts[i - 1].replace(/:$/, '');
    const named = before !== parts[i - 1];
    const scheme = (/[a-z0-9+.-]*$/i.exec(before) ?? [''])[0].toLowerCase();
    // No scheme before the colon, or the middle of a path.
    if (named === (scheme === '') || (!named && before.endsWith('/'))) continue;
    const [authority] = parts[i].split(/[/?#]/);
    const at = authority.lastIndexOf('@');
    const colon = authority.slice(0, Math.max(at, 0)).indexOf(':');
    if (colon >= 0 && colon + 1 < at) return true;
    if (at > 0 && (scheme === 'http' || scheme === 'https')) return true;
    parameters ||= parts.slice(i).join('//').split('#', 1)[0];
  }
  return parameters.split(/[?;]/, 1)[0] !== parameters && passwordParameter(parameters);
}

/**
 * Whether a URL has a password behind its first ? or ;.
 * @param {string} url
 */
function passwordParameter(url) {
  const behind = url.slice(url.search(/[?;]/) + 1);
  return behind.split(/[&;]/).some((pair) => /^(?:[^=]*password|passwd|pwd)=./is.test(pair));
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
