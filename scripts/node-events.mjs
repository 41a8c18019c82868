// A reporter of node --test that prints the events of go test -json, for testsum. A
// test is called sdk/typescript.FILE/NAME.
import { basename } from 'node:path';
import { inspect } from 'node:util';

const Package = 'sdk/typescript';

export default async function* events(source) {
  const began = Date.now();
  let failed = false;
  const line = (event) => `${JSON.stringify({ Package, ...event })}\n`;
  for await (const { type, data } of source) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue;
    const file = basename(data.file ?? 'node', '.test.js');
    // A file that cannot be run is a test of its own name.
    const Test = data.name.endsWith('.js') ? file : `${file}/${data.name.replace(/\s+/g, '_')}`;
    if (data.name.endsWith('.js') && type === 'test:pass') continue;
    yield line({ Action: 'run', Test });
    if (type === 'test:fail') {
      failed = true;
      yield line({ Action: 'output', Test, Output: `--- FAIL: ${Test}\n${inspect(data.details?.error?.cause ?? data.details?.error)}\n` });
      yield line({ Action: 'fail', Test });
    } else if (data.skip !== undefined && data.skip !== false) {
      yield line({ Action: 'output', Test, Output: `${file}.test.js:1: ${data.skip === true || data.skip === '' ? 'no reason given' : data.skip}\n` });
      yield line({ Action: 'skip', Test });
    } else {
      yield line({ Action: 'pass', Test });
    }
  }
  yield line({ Action: failed ? 'fail' : 'pass', Elapsed: (Date.now() - began) / 1000 });
}
