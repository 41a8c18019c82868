/** @typedef {import('../index.js').Problem} Problem */

/** Why something was refused: all reasons, the first of them as the message. */
export class ProcessSandboxError extends Error {
  /** @param {Problem[]} problems */
  constructor(problems) {
    super(problems.map(line).join('\n'));
    this.name = 'ProcessSandboxError';
    this.problems = problems;
  }
}

/** @param {Problem} p */
function line(p) {
  const on = p.field && p.on ? `${p.field} (${p.on}): ` : p.field || p.on ? `${p.field || p.on}: ` : '';
  return on + p.reason + (p.help ? `; ${p.help}` : '');
}

/**
 * @param {string} field
 * @param {string} on
 * @param {string} doing what was attempted
 * @param {string} why
 * @param {string} [help]
 * @returns {Problem}
 */
export function problem(field, on, doing, why, help = '') {
  return { field, on, reason: `cannot ${doing}: ${why}`, help };
}

/**
 * A timeout of another type is told as such: node says of it that it is out of range.
 * @param {unknown} timeout
 */
export function checkTimeout(timeout) {
  if (timeout != null && typeof timeout !== 'number') {
    throw new TypeError(`timeout is to be a number of milliseconds, and is a ${typeof timeout}`);
  }
}
