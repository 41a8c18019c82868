// What the package offers; index.d.ts has its types.
export { Aborted, ExitError, Refused, SbxError } from './lib/errors.js';
export { exec } from './lib/exec.js';
export { createProcessSandbox } from './lib/factory.js';
export { ProcessSandboxError } from './lib/problems.js';
export { runWasi } from './lib/wasi.js';
