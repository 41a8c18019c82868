/** @typedef {import('../record.js').EffectiveRecord} EffectiveRecord */
/** @typedef {import('../index.js').ExecResult<string | Uint8Array>} Result */

/** sbx could not be started, or left no record of what it ran. */
export class SbxError extends Error {
  /**
   * @param {string} message
   * @param {Partial<Pick<Result, 'exitCode' | 'stdout' | 'stderr'>>} [rest]
   */
  constructor(message, rest = {}) {
    super(message);
    this.name = 'SbxError';
    this.exitCode = rest.exitCode;
    this.stdout = rest.stdout;
    this.stderr = rest.stderr;
  }
}

/** The command did not start. */
export class Refused extends SbxError {
  /**
   * @param {{field?: string, on?: string, reason: string, help?: string}} error
   * @param {Result} result
   */
  constructor({ field = '', on = '', reason, help = '' }, result) {
    const at = field && on ? `${field} (${on}): ` : field || on ? `${field || on}: ` : '';
    super(at + reason, result);
    this.name = 'Refused';
    this.field = field;
    this.on = on;
    this.why = reason;
    this.help = help;
    this.record = result.record;
  }
}

/** The command ran and ended with another status than 0, where check was asked for. */
export class ExitError extends SbxError {
  /**
   * @param {string} cmd
   * @param {Result} result
   */
  constructor(cmd, result) {
    super(`${cmd} ended with status ${result.exitCode}`, result);
    this.name = 'ExitError';
    this.result = result;
  }
}

/** The AbortSignal ended the sandbox. */
export class Aborted extends SbxError {
  /**
   * @param {unknown} reason
   * @param {Partial<Pick<Result, 'exitCode' | 'stdout' | 'stderr'>>} [rest]
   * @param {EffectiveRecord} [record]
   */
  constructor(reason, rest, record) {
    super('The operation was aborted', rest);
    this.name = 'AbortError';
    this.code = 'ABORT_ERR';
    this.cause = reason;
    this.record = record;
  }
}
