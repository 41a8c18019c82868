import { ProcessSandboxError, problem } from './problems.js';

/**
 * What `sbx wrap --template` prints: all that a wrapper knows.
 *
 * @typedef {{slot: 'cwd' | 'env' | 'heeded' | 'cmd' | 'args', flag: string}} Slot
 * @typedef {{
 *   template: number,
 *   wrapper: string,
 *   cmd: string,
 *   line: (string | Slot)[],
 *   folders: {
 *     cwd: string,
 *     view: [path: string, shown: 'ro' | 'rw' | 'tmpfs' | 'dir' | 'no'][],
 *     mounts: import('../index.js').DirMount[],
 *   },
 *   env: {
 *     set: [name: string, value: string][],
 *     loaders: string[],
 *     pass: string[] | null,
 *     any: boolean,
 *     credentials: [glob: string, pass: boolean, inURL: boolean][],
 *     drop: string[],
 *     clientsNeed: string[],
 *     clientsEngine: string[],
 *     heededPrefixes: string[],
 *     heeded: string[],
 *   } | null,
 *   audit: {
 *     cmd: string,
 *     args: string[],
 *     left: number,
 *     truncated: boolean,
 *     programs: string[],
 *     next: number,
 *     maxArg: number,
 *     maxArgs: number,
 *     labels: [path: string, label: string, all: boolean][],
 *     common: string[],
 *     tops: string[],
 *   },
 *   redact: {
 *     mark: string,
 *     maxScan: number,
 *     words: string[],
 *     keys: string[],
 *     harmless: string[],
 *     shapes: [prefix: string, ...parts: (string | number)[]][],
 *     flags: [program: string, flag: string, joined: boolean][],
 *   },
 *   notHeld: import('../index.js').NotHeld[],
 * }} Template
 */

/** The version that this package reads. */
export const version = 2;

/**
 * Reads what sbx printed: a template, or why there is none.
 * @param {string} text
 * @returns {Template}
 */
export function parseTemplate(text) {
  const answer = JSON.parse(text);
  if (answer && Array.isArray(answer.problems) && answer.problems.length > 0) {
    throw new ProcessSandboxError(answer.problems);
  }
  if (!answer || answer.template !== version) {
    throw new ProcessSandboxError([problem('template', 'sbx wrap', 'read what sbx answers',
      `its format is ${JSON.stringify(answer?.template)}, and not ${version}`, 'install the sbx and the package of one release')]);
  }
  return answer;
}
