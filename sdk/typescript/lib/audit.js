import { begins, fromBytes, toBytes } from './bytes.js';
import { Labels } from './labels.js';
import { Rules, Scanner } from './redact.js';

/**
 * @typedef {import('./template.js').Template} Template
 * @typedef {import('../index.js').SandboxAuditRecord} SandboxAuditRecord
 * @typedef {import('../index.js').DirMount} DirMount
 */

const ellipsis = '\xe2\x80\xa6'; // in bytes

/** Makes the audits of one wrapper. */
export class Auditor {
  /** @param {Template} t */
  constructor(t) {
    this.template = t;
    this.rules = new Rules(t.redact);
    this.labels = new Labels(t.audit);
    this.programs = t.audit.programs.map(toBytes);
  }

  /**
   * The audit of a wrapped command; rest is its arguments after those that are the
   * same for every invocation.
   * @param {string} cmd
   * @param {string[]} rest
   * @param {DirMount[]} mounts
   * @returns {SandboxAuditRecord}
   */
  audit(cmd, rest, mounts) {
    const { audit, wrapper, notHeld } = this.template;
    const scanner = new Scanner(this.rules, this.programs, audit.next);
    const bare = wrapper === 'none'; // which has no command of its own
    if (bare) scanner.next(toBytes(cmd));
    const args = [...audit.args];
    let { left, truncated } = audit;
    for (const arg of rest) {
      if (left <= 0 || args.length >= audit.maxArgs) {
        truncated = true;
        break;
      }
      const bytes = toBytes(arg);
      const whole = this.labels.apply(scanner.next(bytes));
      const cut = clip(whole, Math.min(audit.maxArg, left));
      truncated ||= cut !== whole || bytes.length > this.rules.maxScan;
      left -= cut.length;
      args.push(fromBytes(cut));
    }
    return {
      kind: 'process-sandbox',
      wrapperName: wrapper,
      wrappedCmd: bare ? this.command(cmd) : audit.cmd,
      wrappedArgs: args,
      mounts: mounts.map(({ label, guestPath, mode }) => ({ label, guestPath, mode })),
      truncated,
      notHeld: notHeld.map((n) => ({ ...n })),
    };
  }

  /**
   * A program's path, or its name where the path tells something.
   * @param {string} cmd
   */
  command(cmd) {
    const label = fromBytes(this.labels.apply(toBytes(cmd)));
    return label.startsWith('<') ? cmd.slice(cmd.lastIndexOf('/') + 1) : label;
  }
}

/**
 * Cuts s to at most n bytes, at a character, and marks that it did.
 * @param {string} s
 * @param {number} n
 */
function clip(s, n) {
  if (s.length <= n) return s;
  let end = Math.max(n - ellipsis.length, 0);
  while (end > 0 && !begins(s, end)) end--;
  return s.slice(0, end) + ellipsis;
}
