import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { SbxError } from './errors.js';

/** @typedef {import('../record.js').EffectiveRecord} EffectiveRecord */

const recordVersion = 1;
const maxRecord = 32 << 20;

/**
 * Reads the record of a run that has ended. Where nothing was constrained the command
 * could have put anything in its place: it is bounded, and never waited for.
 * @param {string} path
 * @returns {Promise<EffectiveRecord>}
 */
export async function readRecord(path) {
  let text;
  try {
    text = await readPlain(path);
  } catch (error) {
    throw new SbxError(`no record was left: ${/** @type {Error} */ (error).message}`);
  }
  let record;
  try {
    record = JSON.parse(text);
  } catch (error) {
    throw new SbxError(`cannot read the record: ${/** @type {Error} */ (error).message}`);
  }
  if (record?.record_version !== recordVersion) {
    throw new SbxError(`a record of version ${JSON.stringify(record?.record_version)}; this package reads ${recordVersion}`);
  }
  if (record.state === 'running') record.state = 'lost'; // sbx has ended
  return record;
}

/** @param {string} path */
async function readPlain(path) {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  try {
    const info = await file.stat();
    if (!info.isFile()) throw new Error('it is not a regular file');
    if (info.size > maxRecord) throw new Error(`it has more than ${maxRecord} bytes`);
    const buffer = Buffer.alloc(info.size);
    let read = 0;
    while (read < buffer.length) {
      const { bytesRead } = await file.read(buffer, read, buffer.length - read, read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return buffer.toString('utf8', 0, read);
  } finally {
    await file.close();
  }
}
