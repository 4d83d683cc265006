// Runners: long-lived processes that run attempts of many tasks at once, as those see them who answer what they dial.
import type { Readable } from 'node:stream'
import type { EndSubmit } from '../../contract/api/tasks/attempt-end.ts'
import type {
  AttemptRef,
  RegisteredRunner,
  RenewedLease,
  RunnerRegistration,
  RunnerRenewal,
} from '../../contract/api/tasks/runners.ts'

/** The runner that a credential belongs to, whether it is registered or not. */
export type RunnerIdentity = { runner: string }

export interface Runners {
  /** Whose credential it is; undefined: nobody's. Cheap, and impossible to guess. */
  identify(token: string): RunnerIdentity | undefined
  /** Conflict for another version of the protocol. */
  register(identity: RunnerIdentity, registration: RunnerRegistration): RegisteredRunner
  /** Orders, one a line, until another connection of it takes over or the runner is gone. NotFound for an id that is not its own. */
  readWork(identity: RunnerIdentity, id: string): Readable
  /** NotFound when its lease has ended. */
  renew(identity: RunnerIdentity, id: string, renewal: RunnerRenewal): RenewedLease
  /** Gives it nothing more, and ends the attempts that it hands back. NotFound. */
  drain(identity: RunnerIdentity, id: string, attempts: readonly AttemptRef[]): void
  /** An attempt has ended; nothing happens when it is not known, or has ended before. */
  end(key: AttemptRef, end: EndSubmit): void
  /** The folder of an attempt in a runner, on this machine; undefined for any other. */
  folderOf(key: AttemptRef): string | undefined
}
