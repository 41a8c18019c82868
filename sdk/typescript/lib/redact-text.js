import { isTokenByte, next } from './redact.js';
import { dataSource } from './source.js';

/** @typedef {import('./redact.js').Rules} Rules */

/**
 * Hides credentials inside a longer text: headers, URLs, tokens of known shape, and
 * KEY=value or "key": "value" in scripts and JSON.
 * @param {string} s
 * @param {Rules} rules
 */
export function redactText(s, rules) {
  if (s.includes('PRIVATE KEY-----')) return rules.mark;
  s = redactScheme(s, 'bearer ', rules);
  s = redactScheme(s, 'basic ', rules);
  s = redactPairs(s, rules);
  s = redactURLs(s, rules);
  s = redactSources(s, rules);
  s = redactTokens(s, rules);
  return redactWords(s, rules);
}

/**
 * @param {string} s
 * @param {number} from
 * @param {string} stops
 */
function until(s, from, stops) {
  let end = from;
  while (end < s.length && !stops.includes(s[end])) end++;
  return end;
}

/**
 * Hides what follows the name of an HTTP authentication scheme.
 * @param {string} s
 * @param {string} scheme in lower case
 * @param {Rules} rules
 */
function redactScheme(s, scheme, { mark }) {
  for (let from = 0; ;) {
    // Only the letters of ASCII have another case here.
    const at = s.replace(/[A-Z]+/g, (w) => w.toLowerCase()).indexOf(scheme, from);
    if (at < 0) return s;
    from = at + scheme.length;
    if (at > 0 && isTokenByte(s.charCodeAt(at - 1))) continue;
    const end = until(s, from, ' \t\r\n"\'`,;');
    const word = s.slice(from, end);
    if ((/[0-9=]/.test(word) && word.length >= 6) || word.length >= 20) {
      s = s.slice(0, from) + mark + s.slice(end);
      from += mark.length;
    }
  }
}

/**
 * Hides the values of secret keys within a text: TOKEN=x, ?token=x, "password": "x",
 * X-Api-Key: x.
 * @param {string} s
 * @param {Rules} rules
 */
function redactPairs(s, rules) {
  for (let i = 0; i < s.length; i++) {
    if (s[i] !== '=' && s[i] !== ':') continue;
    const { key, quoted } = keyBefore(s, i);
    if (key === '' || !rules.isSecret(key)) continue;
    const [from, end] = valueAfter(s, i, quoted);
    if (end <= from) continue;
    if (!s.startsWith(rules.mark, from)) s = s.slice(0, from) + rules.mark + s.slice(end);
    i = from + rules.mark.length - 1;
  }
  return s;
}

/**
 * The name that ends where the sign at i stands.
 * @param {string} s
 * @param {number} i
 */
function keyBefore(s, i) {
  let end = i;
  let quoted = false;
  while (end > 0 && s[end - 1] === ' ') end--;
  while (end > 0 && '"\'\\'.includes(s[end - 1])) {
    end--;
    quoted = true;
  }
  let from = end;
  while (from > 0 && end - from < 200 && isTokenByte(s.charCodeAt(from - 1))) from--;
  return { key: s.slice(from, end), quoted };
}

/**
 * Where the value begins and ends that follows the sign at i. A header's value goes
 * to the end of its line; a quoted one to its quote.
 * @param {string} s
 * @param {number} i
 * @param {boolean} quotedKey
 * @returns {[number, number]}
 */
function valueAfter(s, i, quotedKey) {
  let from = i + 1;
  while (from < s.length && (s[from] === ' ' || s[from] === '\t')) from++;
  while (from < s.length && s[from] === '\\') from++;
  if (s[from] === '"' || s[from] === "'") {
    const quote = s[from++];
    let end = from;
    while (end < s.length && s[end] !== quote) {
      if (s[end] === '\\' && end + 1 < s.length) end++;
      end++;
    }
    return [from, Math.min(end, s.length)];
  }
  return [from, until(s, from, s[i] === '=' || quotedKey ? ' \t\r\n"\'`&;,)}' : '\r\n"\'')];
}

/**
 * Hides the password in scheme://user:password@host, and a user that is long enough
 * to be a token itself.
 * @param {string} s
 * @param {Rules} rules
 */
function redactURLs(s, { mark }) {
  for (let from = 0; ;) {
    const i = s.indexOf('://', from);
    if (i < 0) return s;
    from = i + 3;
    const end = until(s, from, '/?# \t\r\n"\'<');
    // The last @ counts: a password may hold one.
    const at = s.slice(from, end).lastIndexOf('@');
    if (at < 0) continue;
    const user = s.slice(from, from + at);
    const colon = user.indexOf(':');
    if (colon >= 0) {
      const password = user.slice(colon + 1);
      if (password !== '' && password !== mark) {
        s = `${s.slice(0, from)}${user.slice(0, colon)}:${mark}${s.slice(from + at)}`;
      }
    } else if (user.length >= 16 && user !== mark) {
      s = s.slice(0, from) + mark + s.slice(from + at);
    }
  }
}

/**
 * Hides the passwords of data sources.
 * @param {string} s
 * @param {Rules} rules
 */
function redactSources(s, { mark }) {
  return s.replace(/[^ \t\r\n"'`<>\\]+/g, (word) => {
    const at = dataSource(word);
    return at ? word.slice(0, at[0]) + mark + word.slice(at[1]) : word;
  });
}

/**
 * Hides tokens that are known by how they begin.
 * @param {string} s
 * @param {Rules} rules
 */
function redactTokens(s, { shapes, mark }) {
  for (let i = 0; i < s.length; i++) {
    if (!isTokenByte(s.charCodeAt(i)) || (i > 0 && isTokenByte(s.charCodeAt(i - 1)) && s[i - 1] !== '.')) continue;
    let end = i;
    for (const shape of shapes.get(s[i]) ?? []) {
      shape.lastIndex = i;
      if (shape.test(s)) end = Math.max(end, shape.lastIndex);
    }
    if (end === i) continue;
    s = s.slice(0, i) + mark + s.slice(end);
    i += mark.length - 1;
  }
  return s;
}

/**
 * Looks at a text with spaces as at the arguments of a command of its own: sh -c
 * "mysql -pSECRET".
 * @param {string} s
 * @param {Rules} rules
 */
function redactWords(s, rules) {
  if (!/[ \t\n]/.test(s)) return s;
  /** @type {string[]} */
  const programs = [];
  /** @type {number} */
  let hide = next.nothing;
  return s.replace(/[^ \t\n]+/g, (word) => {
    if (hide === next.always || (hide === next.unlessFlag && !word.startsWith('--'))) {
      hide = next.nothing;
      return rules.mark;
    }
    const bare = word.replace(/^["']+|["']+$/g, '');
    const short = rules.shortFlag(bare, programs);
    if (short?.joined) word = short.flag + rules.mark;
    else if (short) hide = next.always;
    else if (bare.startsWith('-') && !bare.includes('=') && rules.isSecret(bare)) hide = next.unlessFlag;
    rules.note(bare, programs);
    return word;
  });
}
