import { resolve } from 'node:path';

/**
 * A spec as the text of a document. What JSON would leave out or replace in silence is
 * a TypeError: a rule that went missing on its way would be a wider sandbox.
 * @param {unknown} spec
 */
export function documentOf(spec) {
  check('spec', spec, []);
  return JSON.stringify(spec);
}

/**
 * The same as the text of a file that may lie anywhere: what counts from the document's
 * directory counts from base.
 * @param {unknown} spec
 * @param {string} base
 */
export function movedDocument(spec, base) {
  const copy = JSON.parse(documentOf(spec));
  within(copy, 'working_dir', base);
  within(copy?.sandbox, 'root', base);
  return JSON.stringify(copy);
}

/**
 * @param {any} object
 * @param {string} key
 * @param {string} base
 */
function within(object, key, base) {
  const path = object?.[key];
  if (typeof path === 'string' && path !== '' && !/^[/~]/.test(path)) object[key] = `${resolve(base)}/${path}`;
}

/**
 * @param {string} at
 * @param {unknown} value
 * @param {object[]} above what it lies in
 */
function check(at, value, above) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return;
  if (typeof value !== 'object') throw new TypeError(`${at} is ${typeof value === 'number' ? value : typeof value}, which no spec can hold`);
  if (above.includes(value)) throw new TypeError(`${at} holds itself`);
  const inside = [...above, value];
  if (Array.isArray(value)) {
    Array.from(value).forEach((item, i) => check(`${at}[${i}]`, item, inside)); // holes become undefined
    return;
  }
  const kind = Object.getPrototypeOf(value);
  if ((kind !== null && Object.getPrototypeOf(kind) !== null) || 'toJSON' in value) throw new TypeError(`${at} is not a plain object`);
  for (const [key, member] of Object.entries(value)) check(`${at}.${key}`, member, inside);
}
