import { toBytes } from './bytes.js';

/** @typedef {import('./template.js').Template} Template */

const pathEnds = ':,;"\'`()[]{}<>|&\\ \t\n';
const wholeEnds = ':,;"\'`';
const anyPath = '<path>';

/** How an audit calls paths of the host. Everything is bytes. */
export class Labels {
  /** @param {Template['audit']} audit */
  constructor(audit) {
    this.labels = audit.labels.map(([path, label, all]) => ({ path: toBytes(path), label: toBytes(label), all }));
    this.common = audit.common;
    this.tops = new Set(audit.tops);
  }

  /**
   * An argument with the paths of the host in it replaced.
   * @param {string} arg
   */
  apply(arg) {
    if (!arg.includes('/')) return arg;
    let out = '';
    for (let i = 0; i < arg.length;) {
      if (arg[i] !== '/' || (!beginsPath(arg, i) && !this.known(arg.slice(i)))) {
        out += arg[i++];
        continue;
      }
      const [n, name] = this.named(arg, i);
      out += name;
      i += n;
    }
    return out;
  }

  /**
   * Whether a text begins with a directory of the host that has a name for others,
   * whatever stands before it.
   * @param {string} text
   */
  known(text) {
    return this.labels.some(({ path, label }) => path !== label && text.startsWith(path) &&
      (text.length === path.length || text[path.length] === '/' || pathEnds.includes(text[path.length])));
  }

  /**
   * How much of an argument from i on is a path, and what it is called. A path that
   * is the whole argument may have blanks and brackets.
   * @param {string} arg
   * @param {number} i
   * @returns {[number, string]}
   */
  named(arg, i) {
    const text = arg.slice(i);
    const ends = i === 0 ? wholeEnds : pathEnds;
    const end = endOf(text, 0, ends);
    const slashes = text.length - text.replace(/^\/+/, '').length;
    if (slashes <= 1) return this.path(text, end, ends);
    if (slashes === 2 && ofURL(arg.slice(0, i))) return [end, text.slice(0, end)];
    // They are as good as one.
    const [n, name] = this.path(text.slice(slashes - 1), Math.max(end - slashes + 1, 1), ends);
    return [n + slashes - 1, name];
  }

  /**
   * @param {string} text begins with one slash
   * @param {number} end
   * @param {string} ends
   * @returns {[number, string]}
   */
  path(text, end, ends) {
    for (const { path, label, all } of this.labels) {
      const n = path.length;
      if (!text.startsWith(path) || (text.length > n && text[n] !== '/' && !ends.includes(text[n]))) continue;
      const to = endOf(text, n, ends);
      if (leadsElsewhere(`${text.slice(0, to)}/`)) return [to, anyPath];
      return [to, all ? label : label + text.slice(n, to)];
    }
    const whole = text.slice(0, end);
    const path = whole.replace(/\/+$/, '');
    if (path === '' || this.tops.has(path)) return [end, whole];
    if (!leadsElsewhere(`${whole}/`) && this.common.some((dir) => under(path, dir))) return [end, whole];
    return [end, anyPath];
  }
}

/**
 * @param {string} text
 * @param {number} from
 * @param {string} ends
 */
function endOf(text, from, ends) {
  let end = from;
  while (end < text.length && !ends.includes(text[end])) end++;
  return end;
}

/**
 * Tells whether the slash at i is the first of an absolute path: no name stands
 * before it, or one that is a flag's, as in -I/usr/include.
 * @param {string} arg
 * @param {number} i
 */
function beginsPath(arg, i) {
  let from = i;
  while (from > 0 && /[-0-9A-Za-z_.~%*\x80-\xff]/.test(arg[from - 1])) from--;
  return from === i || (arg[from] === '-' && /^[-0-9A-Za-z]*$/.test(arg.slice(from, i)));
}

/**
 * Tells whether two slashes after this text begin a host's name.
 * @param {string} before
 */
function ofURL(before) {
  return /[-0-9A-Za-z]:$/.test(before) && !/file:$/i.test(before);
}

/**
 * Tells whether a path may be of another directory than it begins with.
 * @param {string} path
 */
function leadsElsewhere(path) {
  return path.includes('/../') || (under(path, '/proc') && (path.includes('/root/') || path.includes('/cwd/')));
}

/**
 * Tells whether path is dir or beneath it.
 * @param {string} path
 * @param {string} dir
 */
export function under(path, dir) {
  return dir === '/' || path === dir || path.startsWith(dir === '/' ? dir : `${dir}/`);
}
