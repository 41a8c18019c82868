import type { EffectiveRecord } from './record.js';

/** A directory of the host that a command works on. */
export interface DirMount {
  kind: 'dir';
  /** What an audit calls the directory; the last name of guestPath where it is empty. */
  label: string;
  /** Absolute and clean: without `.` and `..`. */
  hostPath: string;
  /** The same, as the guest names it. */
  guestPath: string;
  mode: 'ro' | 'rw';
}

/** A command, as spawn takes it. */
export interface Command {
  cmd: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
}

/** A command as a caller would start it. */
export interface Invocation {
  cmd: string;
  args: string[];
  /** Without it the environment is this process's own. */
  env?: Record<string, string>;
  /** Absolute and clean. */
  cwd?: string;
  mounts?: DirMount[];
}

/** What of a mount an audit tells. */
export interface AuditMount {
  label: string;
  guestPath: string;
  mode: 'ro' | 'rw';
}

/** Something that a wrapper does not hold: a field of the spec, or what is none. */
export interface NotHeld {
  field: string;
  reason: string;
}

/**
 * What a wrapped invocation may tell others: plain JSON without credentials, and
 * without paths of the host but those that every system has.
 */
export interface SandboxAuditRecord {
  kind: 'process-sandbox';
  wrapperName: string;
  wrappedCmd: string;
  wrappedArgs: string[];
  /** The caller's own, none that the wrapper adds. */
  mounts: AuditMount[];
  /** Arguments were cut or left out. */
  truncated: boolean;
  notHeld?: NotHeld[];
}

export interface Wrapped {
  wrapped: Invocation;
  audit: SandboxAuditRecord;
}

/** Anything that rewrites an invocation just before it is spawned. */
export interface ProcessSandbox {
  readonly name: string;
  /**
   * Rewrites inv, which stays as it is. Synchronous: nothing is started, opened or
   * waited for. What cannot be wrapped is thrown as a ProcessSandboxError.
   */
  wrap(inv: Invocation): Wrapped;
}

/**
 * A wrapped invocation that is the plain command as well, for an interface that takes
 * {cmd, args, env, cwd?} and returns the same.
 */
export interface WrappedCommand extends Command, Wrapped {
  wrapped: Command & { mounts: DirMount[] };
}

/** What createProcessSandbox makes. */
export interface CommandSandbox extends ProcessSandbox {
  wrap(inv: Invocation): WrappedCommand;
}

export type WrapperName = 'sbx' | 'bwrap' | 'nsjail' | 'runsc' | 'docker' | 'podman' | 'none';

export interface ProcessSandboxOptions {
  wrapper: WrapperName;
  /** The SandboxSpec; without one it is workspace-write over cwd and the rw mounts, without a network. */
  spec?: object;
  /** The same as text. */
  specJson?: string;
  /** The image, for docker, podman and runsc. */
  image?: string;
  /** The directories that the invocations will name, and no others. */
  mounts?: DirMount[];
  /** The directory that the invocations work in; this process's own without it. */
  cwd?: string;
  /** The sbx program; without it that of the package for this platform, else the one along PATH. */
  sbx?: string;
  /** How long sbx may take to answer, in milliseconds; 30,000 without it. */
  timeout?: number;
}

/**
 * Asks sbx, once, what it needs to wrap. What the wrapper cannot hold of the spec is
 * a ProcessSandboxError. The answer is of this moment: where the spec or what stands
 * in the directories changes, ask again.
 */
export function createProcessSandbox(options: ProcessSandboxOptions): Promise<CommandSandbox>;

/** One reason why something was refused. */
export interface Problem {
  /** The field that it is about; "" for none. */
  field: string;
  /** What it is about: a place in a document, a path. */
  on: string;
  reason: string;
  /** What would help; "" for nothing. */
  help: string;
}

export class ProcessSandboxError extends Error {
  readonly name: 'ProcessSandboxError';
  /** All reasons, one at least. */
  readonly problems: Problem[];
  constructor(problems: Problem[]);
}

export interface RunWasiOptions {
  /** The file of the module. */
  module: string;
  /** The module's arguments, without its name. */
  args?: string[];
  /** The module's variables. */
  env?: Record<string, string>;
  /** The module's directories. */
  mounts?: DirMount[];
  /** A program by its name along PATH, or by its path; the flags are those that its name asks for. */
  runner: string;
  /** The runner's own environment; this process's without it. */
  runnerEnv?: Record<string, string>;
  /** The directory in which the runner starts. */
  cwd?: string;
  /** What the module reads; nothing without it. */
  stdin?: string | Uint8Array;
  /** Ends the runner with SIGKILL after so many milliseconds. */
  timeout?: number;
  /** Rewrites the runner's command line just before it is spawned. */
  processSandbox?: ProcessSandbox;
}

export interface WasiResult {
  /** The runner's; null where a signal ended it. */
  exitCode: number | null;
  /** Present where a signal ended it. */
  signal?: string;
  stdout: string;
  stderr: string;
  /** Present exactly where a processSandbox is. */
  sandboxAudits?: SandboxAuditRecord[];
}

/** Runs a WASI module by wasmtime's or wazero's command. */
export function runWasi(options: RunWasiOptions): Promise<WasiResult>;

export type { EffectiveRecord } from './record.js';
/** What became of one field of the spec. */
export type Enforcement = EffectiveRecord['enforcement'][number];
/** Something that was denied, or that should not have been. */
export type Violation = EffectiveRecord['violations'][number];

export interface ExecOptions {
  /** The command: a path, or a name along its PATH. */
  cmd: string;
  args?: string[];
  /**
   * The environment of sbx, of which the command gets what the spec passes; this
   * process's own without it.
   */
  env?: Record<string, string>;
  /** Where sbx starts, and the command where the spec has no working_dir; this process's own without it. */
  cwd?: string;
  /**
   * The SandboxSpec; without one it is workspace-write in cwd, without a network. Its
   * relative paths count from cwd. A member that is undefined is a TypeError.
   */
  spec?: object;
  /** A file with a spec, JSON or YAML, from which its relative paths count. */
  specFile?: string;
  /** What the command reads; nothing without it. */
  stdin?: string | Uint8Array;
  /** stdin, stdout and stderr; a number is a descriptor of this process. ['pipe', 'pipe', 'pipe'] without it. */
  stdio?: [ExecStdio, ExecStdio, ExecStdio];
  /** What stdout and stderr of the result are: strings, or with 'buffer' their bytes. */
  encoding?: 'utf8' | 'buffer';
  /** Makes an ExitError of a status other than 0. */
  check?: boolean;
  /** Ends the sandbox by killSignal; then the promise is rejected with Aborted. */
  signal?: AbortSignal;
  /**
   * 'SIGKILL' without it, which ends sbx and with it the command; the record is
   * 'lost'. Any other reaches the command itself, and the record has its end.
   */
  killSignal?: NodeJS.Signals;
  /** The sbx program, which no command may be able to write; without it as in ProcessSandboxOptions. */
  sbx?: string;
}

export type ExecStdio = 'pipe' | 'inherit' | 'ignore' | number;

export interface ExecResult<Output = string> {
  /** The status of sbx exec: the command's own, 128+n where signal n ended it, 124 where a limit of the spec did. */
  exitCode: number;
  /** What was written there; empty where stdio has no pipe. */
  stdout: Output;
  stderr: Output;
  /** What was requested, what was enforced, what was used and denied. */
  record: EffectiveRecord;
}

/**
 * Runs a command under a spec, by the program sbx, to its end. How long that may take
 * is the spec's limits.timeout.
 */
export function exec(options: ExecOptions & { encoding: 'buffer' }): Promise<ExecResult<Uint8Array>>;
export function exec(options: ExecOptions): Promise<ExecResult>;

/** sbx could not be started, or left no record of what it ran. */
export class SbxError extends Error {
  /** Of sbx; undefined where it was not started. */
  readonly exitCode: number | undefined;
  readonly stdout: string | Uint8Array | undefined;
  readonly stderr: string | Uint8Array | undefined;
}

/** The command did not start: the spec cannot be enforced here, or there is no such command. */
export class Refused extends SbxError {
  /** Of the spec; "" where it is about none. */
  readonly field: string;
  /** What it is about: a path, a program, the spec. */
  readonly on: string;
  /** What was attempted, and the one cause. */
  readonly why: string;
  /** What would help; "" for nothing. */
  readonly help: string;
  /** 125, or 126 and 127 as a shell has them. */
  readonly exitCode: number;
  readonly record: EffectiveRecord;
}

/** The command ended with a status other than 0, where check is set. */
export class ExitError extends SbxError {
  readonly exitCode: number;
  readonly result: ExecResult<string | Uint8Array>;
}

/** The signal ended the sandbox; its name is 'AbortError', its cause the signal's reason. */
export class Aborted extends SbxError {
  readonly code: 'ABORT_ERR';
  /** Absent where the command was not started. */
  readonly record: EffectiveRecord | undefined;
}
