// The tools that a loop can call, whoever runs them: the worker, chat or a proxy.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { JsonObject } from '../../contract/schema/json.ts'
import type { ToolSchema } from '../messages/messages.ts'

export type HostTool = ToolSchema & {
  /** May run again when it is unknown whether it ran: true only for calls without side effects. */
  repeatable: boolean
  /** Its own parameters limit the output; the limit of 64 KiB does not apply (BUILT-029). */
  ownsOutputLimit?: boolean
  /** Its own time limit, in addition to the loop's (`LoopLimits`). */
  timeoutMs?: number
  /** The caller of the loop runs it (a proxy client's own tool): the loop ends when the model calls it. */
  external?: boolean
}

export type ToolCall = { id: string; name: string; args: JsonObject }

/** A call as the host gets it. */
export type HostedCall = ToolCall & {
  /** How many turns the run had before; with the id it names one call of a whole run. */
  turn?: number
  /** What the call has waited for before the run went on. */
  waited?: ParkWait | undefined
}

export type ToolResult = { content: string; isError: boolean }

/** A call has no answer yet: the run ends for now, and makes the call again once the wait is over. */
export type ToolWait = { wait: ParkWait }

export interface ToolHost {
  /** The tools offered to the model; the same list for a whole run. */
  list(): HostTool[]
  /** Runs one call. May throw: the loop turns that into a structured result. Must stop when the signal aborts. */
  call(call: HostedCall, signal: AbortSignal): Promise<ToolResult | ToolWait>
}
