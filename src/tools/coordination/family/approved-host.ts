// Tools that run only when a person has approved the call.
import { createHash } from 'node:crypto'
import { type ApprovalAnswerSeen, defaultApprovalWait } from '../../../contract/api/coordination/coordination.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { redactJson } from '../../../observability/redaction.ts'
import type { TaskCoordination } from '../../../ports/coordination/coordination.ts'
import { failTool } from '../../registry/tool-error.ts'
import { nameCall, type ParkableAnswer, type ParkableCall } from './call-host.ts'

/** Structurally the ToolHost of the loop. */
type Host<L> = {
  list(): L
  call(call: ParkableCall, signal: AbortSignal): Promise<ParkableAnswer>
}

type Approving = {
  tools: readonly string[]
  coordination: Pick<TaskCoordination, 'askApproval'>
  iteration: number
  /** Takes secrets out of what people are shown. */
  redact(text: string): string
}

const maxArgumentsLength = 4000

function describe(name: string, args: string): string {
  return `${name} ${args.length > maxArgumentsLength ? `${args.slice(0, maxArgumentsLength)}…` : args}`
}

/** Why a call that was not approved is not made. */
export function explainNotApproved({ status, by = 'a person', reason }: ApprovalAnswerSeen): string {
  const why = status === 'expired' ? 'nobody answered in time' : `${by} declined it`
  return `this call was not run: ${why}${reason === undefined ? '' : ` (${reason})`}`
}

/** By the arguments as they are: what people are shown has no secrets, and so looks the same for different ones. */
function nameQuestion(hosted: ParkableCall, iteration: number): string {
  const identity = JSON.stringify([nameCall(hosted, iteration), hosted.name, hosted.args])
  return `ask-${createHash('sha256').update(identity).digest('hex')}`
}

/** The same tools; those that are named ask before each call, with its very arguments. */
export function approveTools<L>(host: Host<L>, { tools, coordination, iteration, redact }: Approving): Host<L> {
  const guarded = new Set(tools)

  function ask(hosted: ParkableCall): Promise<ApprovalAnswerSeen> {
    const shown = redactJson(hosted.args, redact) as JsonObject
    return coordination.askApproval(nameQuestion(hosted, iteration), {
      tool: hosted.name,
      arguments: shown,
      message: describe(hosted.name, JSON.stringify(shown)),
      timeout: defaultApprovalWait,
    })
  }

  return {
    list: () => host.list(),
    async call(hosted, signal) {
      if (!guarded.has(hosted.name)) return host.call(hosted, signal)
      const answer = await ask(hosted)
      if (answer.wait !== undefined) return { wait: answer.wait }
      if (answer.status === 'approved') return host.call(hosted, signal)
      return { content: JSON.stringify(failTool('forbidden', explainNotApproved(answer))), isError: true }
    },
  }
}
