// Wraps by templates what stdin brings, and tells where the answer is not what sbx
// says: a line {template}, then lines {inv, want}. See TestTemplate in sbx/wrap.
import { deepStrictEqual } from 'node:assert';
import { createInterface } from 'node:readline';
import { ProcessSandboxError } from '../index.js';
import { TemplateSandbox } from '../lib/wrapper.js';

/** @type {TemplateSandbox | undefined} */
let sandbox;
let templates = 0;
let same = 0;
let different = 0;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { template, inv, want } = JSON.parse(line);
  if (template) {
    sandbox = new TemplateSandbox(template);
    templates++;
    continue;
  }
  const before = JSON.stringify(inv);
  let got;
  try {
    const { wrapped, audit } = sandbox.wrap(inv);
    got = { wrapped, audit };
    want.wrapped && (want.wrapped.mounts = inv.mounts);
  } catch (error) {
    if (!(error instanceof ProcessSandboxError)) throw error;
    got = { problems: error.problems };
  }
  try {
    deepStrictEqual(got, want);
    deepStrictEqual(JSON.stringify(inv), before, 'the invocation itself was changed');
    same++;
  } catch (error) {
    if (different++ < 5) console.log(`${sandbox.name}: ${before.slice(0, 1500)}\n${error.message}\n`);
  }
}
if (different > 0) {
  console.log(`${different} of ${same + different} answers differ`);
  process.exitCode = 1;
} else {
  console.log(JSON.stringify({ templates, same }));
}
