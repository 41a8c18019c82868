// What the package offers; index.d.ts has its types.
export { createProcessSandbox } from './lib/factory.js';
export { ProcessSandboxError } from './lib/problems.js';
export { runWasi } from './lib/wasi.js';
