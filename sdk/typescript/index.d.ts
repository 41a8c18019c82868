/** A folder of the host that a command works on. */
export interface DirMount {
  kind: 'dir';
  /** What an audit calls the folder; the last name of guestPath where it is empty. */
  label: string;
  /** Absolute and clean: without `.` and `..`. */
  hostPath: string;
  /** The same, as the guest names it. */
  guestPath: string;
  mode: 'ro' | 'rw';
}

/** A command as a caller would start it. */
export interface Invocation {
  cmd: string;
  args: string[];
  /** Without it the environment is this process's own. */
  env?: Record<string, string>;
  /** Absolute and clean. */
  cwd?: string;
  mounts: DirMount[];
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

export type WrapperName = 'sbx' | 'bwrap' | 'nsjail' | 'runsc' | 'docker' | 'podman' | 'none';

export interface ProcessSandboxOptions {
  wrapper: WrapperName;
  /** The SandboxSpec; without one it is workspace-write over cwd and the rw mounts, without a network. */
  spec?: object;
  /** The same as text. */
  specJson?: string;
  /** The image, for docker, podman and runsc. */
  image?: string;
  /** The folders that the invocations will name, and no others. */
  mounts?: DirMount[];
  /** The folder that the invocations work in; this process's own without it. */
  cwd?: string;
  /** The sbx program; found along PATH without it. */
  sbx?: string;
  /** How long sbx may take to answer, in milliseconds; 30,000 without it. */
  timeout?: number;
}

/**
 * Asks sbx, once, what it needs to wrap. What the wrapper cannot hold of the spec is
 * a ProcessSandboxError. The answer is of this moment: where the spec or what stands
 * in the folders changes, ask again.
 */
export function createProcessSandbox(options: ProcessSandboxOptions): Promise<ProcessSandbox>;

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
  /** The module's folders. */
  mounts?: DirMount[];
  /** A program by its name along PATH, or by its path; the flags are those that its name asks for. */
  runner: string;
  /** The runner's own environment; this process's without it. */
  runnerEnv?: Record<string, string>;
  /** The folder in which the runner starts. */
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
