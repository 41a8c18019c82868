import { lower } from './bytes.js';
import { redactText } from './redact-text.js';

/**
 * What looks like a credential, by the rules that the template brings: the same that
 * sbx has. Everything here is strings of bytes.
 *
 * @typedef {import('./template.js').Template['redact']} Tables
 */

/** What an argument says about the one after it. */
export const next = /** @type {const} */ ({ nothing: 0, unlessFlag: 1, always: 2 });

/** The rules, ready for use. */
export class Rules {
  /** @param {Tables} t */
  constructor(t) {
    this.mark = t.mark;
    this.maxScan = t.maxScan;
    this.words = new Set(t.words);
    this.keys = new Set(t.keys);
    this.harmless = new Set(t.harmless);
    this.shapes = byFirst(t.shapes);
    /** @type {Map<string, [string, boolean][]>} */
    this.flags = new Map();
    for (const [program, flag, joined] of t.flags) {
      const of = this.flags.get(program) ?? [];
      this.flags.set(program, [...of, [flag, joined]]);
    }
  }

  /**
   * Tells whether a flag, variable or key names a credential.
   * @param {string} name
   */
  isSecret(name) {
    name = name.replace(/^-+/, '');
    if (name === '' || name.length > 200 || name.startsWith('no-')) return false;
    const parts = nameParts(name);
    const n = parts.length;
    if (n === 0 || (n === 1 && parts[0] === 'pwd') || (n > 1 && this.harmless.has(parts[n - 1]))) return false;
    return parts.some((part, i) =>
      this.words.has(part) || (i > 0 && (part === 'key' || part === 'keys') && this.keys.has(parts[i - 1])));
  }

  /**
   * Adds an argument to the programs named so far, if it is one that has such flags.
   * @param {string} arg
   * @param {string[]} programs
   */
  note(arg, programs) {
    const name = arg.slice(arg.lastIndexOf('/') + 1);
    if (!arg.startsWith('-') && this.flags.has(name) && !programs.includes(name)) programs.push(name);
  }

  /**
   * Finds a short flag of one of the programs named so far.
   * @param {string} a
   * @param {string[]} programs
   * @returns {{flag: string, joined: boolean} | undefined}
   */
  shortFlag(a, programs) {
    if (a.length < 2 || a[0] !== '-') return undefined;
    for (const p of programs) {
      for (const [flag, joined] of this.flags.get(p) ?? []) {
        if (!a.startsWith(flag)) continue;
        if (a === flag && (!(flag === '-p' && joined) || p === 'sshpass')) return { flag, joined: false };
        if (a !== flag && joined) return { flag, joined: true };
      }
    }
    return undefined;
  }
}

/**
 * The kinds of token by the first character, as expressions that match one to its end.
 * @param {Tables['shapes']} shapes
 */
function byFirst(shapes) {
  /** @type {Map<string, RegExp[]>} */
  const all = new Map();
  for (const [prefix, ...parts] of shapes) {
    let source = prefix.replace(/[^A-Za-z0-9]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
    let last = '';
    for (let i = 0; i < parts.length; i += 2) {
      last = ranges(String(parts[i]));
      source += `[${last}]{${parts[i + 1]}}`;
    }
    const of = all.get(prefix[0]) ?? [];
    all.set(prefix[0], [...of, new RegExp(`${source}[${last}A-Za-z0-9_.-]*`, 'y')]);
  }
  return all;
}

/**
 * A set of bytes, given as the ends of its ranges, as an expression has it in brackets.
 * @param {string} ends
 */
function ranges(ends) {
  const hex = (/** @type {number} */ i) => `\\x${ends.charCodeAt(i).toString(16).padStart(2, '0')}`;
  let source = '';
  for (let i = 0; i < ends.length; i += 2) source += `${hex(i)}-${hex(i + 1)}`;
  return source;
}

/** The arguments of a command, one at a time. */
export class Scanner {
  /**
   * @param {Rules} rules
   * @param {string[]} programs
   * @param {number} hide
   */
  constructor(rules, programs, hide) {
    this.rules = rules;
    this.programs = [...programs];
    this.hide = hide;
  }

  /**
   * The next argument, with credentials hidden.
   * @param {string} a
   */
  next(a) {
    if (this.hide === next.always || (this.hide === next.unlessFlag && !a.startsWith('--'))) {
      this.hide = next.nothing;
      return this.rules.mark;
    }
    const out = this.argument(a);
    this.rules.note(a, this.programs);
    return out;
  }

  /** @param {string} a */
  argument(a) {
    const { rules } = this;
    if (a.length > rules.maxScan) {
      // What is cut off must not leave half a token that no rule knows, nor half a
      // character.
      let end = rules.maxScan;
      while (end > 0 && (a.charCodeAt(end) & 0xc0) === 0x80) end--;
      while (end > 0 && isTokenByte(a.charCodeAt(end - 1))) end--;
      a = a.slice(0, end) + '\xe2\x80\xa6';
    }
    this.hide = next.nothing;
    const short = rules.shortFlag(a, this.programs);
    if (short) {
      if (short.joined) return short.flag + rules.mark;
      this.hide = next.always;
      return a;
    }
    const equals = a.indexOf('=');
    const name = equals < 0 ? a : a.slice(0, equals);
    if (!/[ \t\n"'/?&]/.test(name) && rules.isSecret(name)) {
      if (equals >= 0 && equals < a.length - 1) return `${name}=${rules.mark}`;
      if (equals < 0 && name.startsWith('-')) {
        this.hide = next.unlessFlag;
        return a;
      }
    }
    return redactText(a, rules);
  }
}

/**
 * Tells whether a byte may be part of a token or a name.
 * @param {number} c
 */
export function isTokenByte(c) {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 95 || c === 45 || c === 46;
}

/**
 * Cuts a name into lower-case words: at punctuation and where a capital follows a
 * small letter.
 * @param {string} name
 */
function nameParts(name) {
  const words = name.replace(/([a-z])(?=[A-Z])/g, '$1-').split(/[^a-zA-Z0-9\x80-\xff]+/).filter((w) => w !== '');
  return words.slice(0, 16).map(lower);
}
