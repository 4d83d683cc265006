// Tools that run only when a person has approved the call.
import { createHash } from 'node:crypto'
import { type ApprovalAnswerSeen, defaultApprovalWait } from '../../../contract/api/coordination/coordination.ts'
import type { JsonObject } from '../../../contract/schema/json.ts'
import { redactJson } from '../../../observability/redaction.ts'
import type { Coordination } from '../../../ports/coordination/coordination.ts'
import { failTool } from '../../registry/tool-error.ts'
import { type HostedAnswer, type HostedCall, nameCall } from './coordination-tool.ts'

/** Structurally the ToolHost of the loop. */
type Host<L> = {
  list(): L
  call(call: HostedCall, signal: AbortSignal): Promise<HostedAnswer>
}

type Approving = {
  tools: readonly string[]
  coordination: Pick<Coordination, 'askApproval'>
  iteration: number
  /** Takes secrets out of what people are shown. */
  redact(text: string): string
}

const longestArguments = 4000

function describe(name: string, args: string): string {
  return `${name} ${args.length > longestArguments ? `${args.slice(0, longestArguments)}…` : args}`
}

/** Why a call that was not approved is not made. */
export function explainRefusal({ status, by = 'a person', reason }: ApprovalAnswerSeen): string {
  const why = status === 'expired' ? 'nobody answered in time' : `${by} declined it`
  return `this call was not run: ${why}${reason === undefined ? '' : ` (${reason})`}`
}

/** By the arguments as they are: what people are shown has no secrets, and so looks the same for different ones. */
function nameQuestion(hosted: HostedCall, iteration: number): string {
  const asked = JSON.stringify([nameCall(hosted, iteration), hosted.name, hosted.args])
  return `ask-${createHash('sha256').update(asked).digest('hex')}`
}

/** The same tools; those that are named ask before each call, with its very arguments. */
export function approveTools<L>(host: Host<L>, { tools, coordination, iteration, redact }: Approving): Host<L> {
  const guarded = new Set(tools)

  function ask(hosted: HostedCall): Promise<ApprovalAnswerSeen> {
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
      return { content: JSON.stringify(failTool('forbidden', explainRefusal(answer))), isError: true }
    },
  }
}
