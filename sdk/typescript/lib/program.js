import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';

/** The package that has the program for this machine. */
export const platformPackage = `@sbx/${process.platform}-${process.arch}`;

/**
 * The program sbx by its absolute path: the one that the caller names, that of the
 * package for this machine, or the first along this process's own PATH. undefined where
 * there is none.
 * @param {string} [named] a path, or a name along PATH
 */
export function findProgram(named) {
  if (named !== undefined) return named.includes('/') ? resolve(named) : alongPath(named);
  return inPackage() ?? alongPath('sbx');
}

function inPackage() {
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage}/bin/sbx`);
  } catch {
    return undefined; // it is optional
  }
}

/**
 * Entries of PATH that count from the current directory are left out: who writes there
 * would choose the program.
 * @param {string} name
 */
function alongPath(name) {
  for (const dir of (process.env.PATH ?? '').split(':')) {
    if (!isAbsolute(dir)) continue;
    const path = join(dir, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // the next one
    }
  }
  return undefined;
}
