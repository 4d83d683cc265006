// Runs one tool call so that anything becomes a result: bad arguments, a throw, a timeout, too much output.
import { abortable, followSignals } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../call/deadlines.ts'
import { defaultLimits, type LoopLimits } from './loop-state.ts'
import {
  cutOutput,
  failThrown,
  failToolCall,
  type HostedCall,
  type HostTool,
  type ToolHost,
  type ToolResult,
  type ToolWait,
} from './tool-host.ts'

export type ToolRun = {
  host: ToolHost
  tools: HostTool[]
  limits: LoopLimits
  clock: Clock
  signal: AbortSignal
  redact: (text: string) => string
}

/** The result of one call. Rejects only when `run.signal` aborts. */
export async function runToolCall(
  call: HostedCall,
  invalidArgs: string | undefined,
  run: ToolRun,
): Promise<ToolResult | ToolWait> {
  const tool = run.tools.find((candidate) => candidate.name === call.name)
  if (tool === undefined) return refuseUnknown(call.name, run.tools)
  if (invalidArgs !== undefined) return refuseArgs(invalidArgs)
  const result = await callWithTimeout(call, tool, run)
  if ('wait' in result) return result
  const content = run.redact(result.content)
  const limit = run.limits.maxOutputBytes ?? defaultLimits.maxOutputBytes
  return { content: tool.ownsOutputLimit ? content : cutOutput(content, limit), isError: result.isError }
}

function refuseUnknown(name: string, tools: HostTool[]): ToolResult {
  const names = tools.map((tool) => tool.name).join(', ')
  return failToolCall({
    error: `There is no tool named "${name}".`,
    errorType: 'not_found',
    suggestion: names === '' ? 'No tools can be called here. Answer without them.' : `Use one of: ${names}.`,
  })
}

function refuseArgs(text: string): ToolResult {
  const shown = text.length > 200 ? `${text.slice(0, 200)}...` : text
  return failToolCall({
    error:
      shown === ''
        ? 'The answer was cut off before the arguments of this call.'
        : `The arguments are not a JSON object: ${shown}`,
    errorType: 'invalid_arguments',
    suggestion: 'Call the tool again with one complete JSON object as its arguments.',
  })
}

/** The shorter limit applies, the tool's or the service's (LIM-009, LIM-010), unless the run trusts its tools. */
function limitTime({ timeoutMs }: HostTool, limits: LoopLimits): number {
  const { toolTimeoutMs = defaultLimits.toolTimeoutMs, trustsToolTimeouts = false } = limits
  if (timeoutMs === undefined) return toolTimeoutMs
  return trustsToolTimeouts ? timeoutMs : Math.min(timeoutMs, toolTimeoutMs)
}

async function callWithTimeout(call: HostedCall, tool: HostTool, run: ToolRun): Promise<ToolResult | ToolWait> {
  const timeoutMs = limitTime(tool, run.limits)
  const { signal, abort, release } = followSignals(run.signal)
  const early = Promise.withResolvers<ToolResult>()
  const late = startDeadline(run.clock, timeoutMs, () => {
    early.resolve(refuseTimeout(call.name, timeoutMs))
    abort(new Error('The tool took too long.'))
  })
  try {
    signal.throwIfAborted()
    // A tool that ignores its signal must not block the loop, which continues without it.
    return await Promise.race([abortable(invokeTool(call, run.host, signal), signal), early.promise])
  } catch (error) {
    run.signal.throwIfAborted()
    return failThrown(error)
  } finally {
    late.cancel()
    release()
  }
}

// async, so that a host that throws synchronously rejects like any other.
async function invokeTool(call: HostedCall, host: ToolHost, signal: AbortSignal): Promise<ToolResult | ToolWait> {
  return host.call(call, signal)
}

function refuseTimeout(name: string, timeoutMs: number): ToolResult {
  return failToolCall({
    error: `${name} did not finish within ${timeoutMs / 1000} s and was stopped.`,
    errorType: 'timeout',
    suggestion: 'Ask for less at once, or try another way.',
  })
}
