// Runs one tool call so that whatever happens becomes a result: bad arguments, a throw, a timeout, too much output.
import type { Clock } from '../ports/clock.ts'
import type { LoopLimits, PendingCall } from './loop-state.ts'
import { defaultLimits } from './loop-state.ts'
import type { HostTool, ToolHost, ToolResult } from './tool-host.ts'
import { cutOutput, failThrown, failTool } from './tool-results.ts'

export type ToolRun = {
  host: ToolHost
  tools: HostTool[]
  limits: LoopLimits
  clock: Clock
  signal: AbortSignal
  redact: (text: string) => string
}

/** The result of one call. Rejects only when `run.signal` aborts. */
export async function runToolCall(call: PendingCall, run: ToolRun): Promise<ToolResult> {
  const tool = run.tools.find((candidate) => candidate.name === call.name)
  if (tool === undefined) return refuseUnknown(call.name, run.tools)
  if (call.invalidArgs !== undefined) return refuseArgs(call.invalidArgs)
  const result = await callWithTimeout(call, tool, run)
  const content = run.redact(result.content)
  const limit = run.limits.maxOutputBytes ?? defaultLimits.maxOutputBytes
  return { content: tool.ownsOutputLimit ? content : cutOutput(content, limit), isError: result.isError }
}

function refuseUnknown(name: string, tools: HostTool[]): ToolResult {
  const names = tools.map((tool) => tool.name).join(', ')
  return failTool({
    error: `There is no tool named "${name}".`,
    errorType: 'not_found',
    suggestion: names === '' ? 'No tools can be called here. Answer without them.' : `Use one of: ${names}.`,
  })
}

function refuseArgs(text: string): ToolResult {
  const shown = text.length > 200 ? `${text.slice(0, 200)}...` : text
  return failTool({
    error: `The arguments are not a JSON object: ${shown}`,
    errorType: 'invalid_arguments',
    suggestion: 'Call the tool again with one complete JSON object as its arguments.',
  })
}

async function callWithTimeout(call: PendingCall, tool: HostTool, run: ToolRun): Promise<ToolResult> {
  const timeoutMs = tool.timeoutMs ?? run.limits.toolTimeoutMs ?? defaultLimits.toolTimeoutMs
  const over = new AbortController()
  const done = new AbortController()
  const signal = AbortSignal.any([run.signal, over.signal])
  // A tool that ignores its signal must not hold the loop: the race goes on without it.
  const timeout = run.clock.sleep(timeoutMs, AbortSignal.any([run.signal, done.signal])).then(() => {
    over.abort(new Error('The tool took too long.'))
    return refuseTimeout(call.name, timeoutMs)
  })
  try {
    return await Promise.race([invokeTool(call, run.host, signal), timeout])
  } catch (error) {
    run.signal.throwIfAborted()
    return failThrown(error)
  } finally {
    done.abort()
    timeout.catch(() => {})
  }
}

// async: a host that throws synchronously rejects like any other.
async function invokeTool(call: PendingCall, host: ToolHost, signal: AbortSignal): Promise<ToolResult> {
  return host.call({ id: call.id, name: call.name, args: call.args }, signal)
}

function refuseTimeout(name: string, timeoutMs: number): ToolResult {
  return failTool({
    error: `${name} did not finish within ${timeoutMs / 1000} s and was stopped.`,
    errorType: 'timeout',
    suggestion: 'Ask for less at once, or take another way.',
  })
}
