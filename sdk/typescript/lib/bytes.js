// The rules count and cut bytes of UTF-8. A string of bytes has a character of code
// 0 to 255 for each, so that an index is an offset.

const ascii = /^[\x00-\x7f]*$/;

/** @param {string} s */
export function toBytes(s) {
  return ascii.test(s) ? s : Buffer.from(s, 'utf8').toString('latin1');
}

/** @param {string} b */
export function fromBytes(b) {
  return ascii.test(b) ? b : Buffer.from(b, 'latin1').toString('utf8');
}

/**
 * Tells whether a character begins at an offset.
 * @param {string} b
 * @param {number} at
 */
export function begins(b, at) {
  return (b.charCodeAt(at) & 0xc0) !== 0x80;
}

/**
 * Tells whether a string is one of Unicode characters: no half of a surrogate pair.
 * @param {string} s
 */
export function isText(s) {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(s);
}

/**
 * The letters beyond ASCII that are one of ASCII's in the other case.
 * @param {string} b
 */
export function lower(b) {
  return b.replace(/\xe2\x84\xaa/g, 'k').replace(/\xc4\xb0/g, 'i').replace(/[A-Z]+/g, (w) => w.toLowerCase());
}

/** @param {string} b */
export function upper(b) {
  return b.replace(/\xc4\xb1/g, 'I').replace(/\xc5\xbf/g, 'S').replace(/[a-z]+/g, (w) => w.toUpperCase());
}
