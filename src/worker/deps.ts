// What the worker needs.
import type { Clock, Ids } from '../lib/clock.ts'
import type { Egress } from '../ports/service/egress.ts'
import type { ReadLeftFiles, ReadWorkspaceFiles } from '../ports/tasks/workloads.ts'
import type { Programs, Sandbox } from '../ports/workspaces/sandbox.ts'

/** What the composition root gives the worker. */
export type WorkerDeps = {
  egress: Egress
  /** Absent: the service runs the code, in its own sandbox (BUILT-024). */
  sandbox?: Sandbox
  /** Absent: programs of agents are refused. */
  programs?: Programs
  clock: Clock
  ids: Ids
  /** The workspace of the attempt. */
  workspaceRoot: string
  /** Makes that folder, if it is not there yet. Absent: it is there from the beginning. */
  openWorkspace?(): Promise<void>
  /** Whether it is there. Absent: from the beginning. */
  hasWorkspace?(): boolean
  /** Told of bytes that the run holds from now on. */
  noteHeld?(bytes: number): void
  readLeftFiles: ReadLeftFiles
  readWorkspaceFiles: ReadWorkspaceFiles
  /** How the worker API is called; default: the platform's fetch. */
  fetch?: typeof fetch
  /** The service knows how the run ended. */
  noteEnd?(): void
  /** Takes lines of the run's log that the service did not take; they hold no secrets. */
  keepUnsent?(text: string): void
}
