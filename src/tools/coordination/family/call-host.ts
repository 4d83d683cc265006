// What the coordination tools of a worker work with, and the host that runs them for a loop.
import type { ParkWait } from '../../../contract/api/tasks/parking.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { TaskCoordination } from '../../../ports/coordination/coordination.ts'
import { type ModelTool, type ShownTool, showTool } from '../../registry/tool.ts'
import { failTool } from '../../registry/tool-error.ts'

export type CoordinationContext = {
  coordination: TaskCoordination
  /** Names this call in the whole run. */
  call: string
  /** The step that it is in the trace of the run. */
  step?: string | undefined
  /** What this call has waited for before the run went on. */
  waited: ParkWait | undefined
  /** Ends the run for now; the call is made again once the wait is over, whatever it returns. */
  park(wait: ParkWait): void
}

export type CoordinationTool = ModelTool<CoordinationContext>

export type ParkableCall = Pick<CoordinationContext, 'step'> & {
  id: string
  name: string
  args: JsonObject
  turn?: number
  waited?: ParkWait | undefined
}
export type ParkableAnswer = { content: string; isError: boolean } | { wait: ParkWait }

/** Structurally the ToolHost of the loop. */
export type CoordinationHost = {
  list(): ShownTool[]
  call(call: ParkableCall, signal: AbortSignal): Promise<ParkableAnswer>
}

/** A word for one call of a run: ids of calls are unique within one answer only. */
export function nameCall({ turn = 0, id }: Pick<ParkableCall, 'turn' | 'id'>, iteration: number): string {
  return `${iteration}-${turn}-${id}`.slice(0, 256)
}

/** What a tool gets of the call besides its arguments. */
export type CallContext = Pick<CoordinationContext, 'call' | 'step' | 'waited' | 'park'>

/** `C`: what the tools work with. */
export function createCallHost<C>(
  tools: readonly ModelTool<C>[],
  { iteration, contextOf }: { iteration: number; contextOf(call: CallContext): C },
): CoordinationHost {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const list = tools.map(showTool)
  return {
    list: () => list,
    async call(hosted, signal) {
      const tool = byName.get(hosted.name)
      let wait: ParkWait | undefined
      const context = contextOf({
        call: nameCall(hosted, iteration),
        step: hosted.step,
        waited: hosted.waited,
        park: (request) => {
          wait = request
        },
      })
      const outcome = tool
        ? await tool.invoke(hosted.args, context, signal)
        : failTool('not_found', `there is no tool "${hosted.name}"`)
      return wait === undefined ? { content: JSON.stringify(outcome), isError: !outcome.success } : { wait }
    },
  }
}

export function createCoordinationHost(
  tools: readonly CoordinationTool[],
  { coordination, iteration }: { coordination: TaskCoordination; iteration: number },
): CoordinationHost {
  return createCallHost(tools, { iteration, contextOf: (call) => ({ coordination, ...call }) })
}
