// A Tool resource that stands for an MCP server, as tools of the loop.
import { type AssignedMcpTool, listToolSecrets, type McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import type { ListedTool } from '../../../contract/kinds/tools/tool-mcp.ts'
import { createRedactor } from '../../../observability/redaction.ts'
import type { OutwardContext, Tool, ToolOutcome } from '../../registry/tool.ts'
import { failTool } from '../../registry/tool-error.ts'
import { type CustomCall, createInvoke } from '../custom-call.ts'
import { explainMcpFailure } from './failures.ts'
import { callToken } from './guarded-fetch.ts'
import { createMcpLink, type McpLink } from './link.ts'
import { describeResult } from './result.ts'

/** One for each of the server's tools; for a server whose tools are not known one that says so. */
export function createMcpTools(assigned: AssignedMcpTool): Tool<OutwardContext>[] {
  if (assigned.tools.length === 0) return [createPlaceholder(assigned)]
  return assigned.tools.map((listed) => createMcpTool(assigned, listed))
}

function createPlaceholder({ name, description, parameters, outage }: AssignedMcpTool): Tool<OutwardContext> {
  const reason = outage?.message ?? 'its server offers no tools'
  return {
    name,
    description,
    parameters,
    repeatable: true,
    ownsOutputLimit: false,
    check: async () => ({ available: true }),
    invoke: async () => failTool('unavailable', `${name} cannot be called: ${reason}`),
  }
}

function createMcpTool(assigned: AssignedMcpTool, listed: ListedTool): Tool<OutwardContext> {
  const { name, description, readOnly = false } = listed
  const { mcp: server } = assigned
  const parameters = { ...listed.parameters, type: 'object', properties: listed.parameters.properties ?? {} }
  const called = {
    name,
    owner: assigned.name,
    parameters,
    headers: server.headers,
    secrets: listToolSecrets(assigned),
  }
  return {
    name,
    owner: assigned.name,
    description,
    parameters,
    repeatable: readOnly,
    ownsOutputLimit: true,
    // Its own limit ends it first, so that the message names the server.
    timeoutMs: server.timeoutMs + 5000,
    check: async () => ({ available: true }),
    invoke: createInvoke(called, (call) => callServer(assigned, listed, call)),
  }
}

/** With the run's link to the server, or one of its own. */
async function withLink<T>(server: McpServer, context: OutwardContext, use: (link: McpLink) => Promise<T>): Promise<T> {
  const make = () => createMcpLink(server, context)
  if (context.links !== undefined) return use(context.links.get(server, make))
  const link = make()
  try {
    return await use(link)
  } finally {
    void link.close()
  }
}

async function callServer(assigned: AssignedMcpTool, listed: ListedTool, call: CustomCall): Promise<ToolOutcome> {
  const { mcp: server } = assigned
  const { host } = new URL(server.url)
  const timer = AbortSignal.timeout(server.timeoutMs)
  const asked = { signal: AbortSignal.any([call.signal, timer]), onProgress: reportProgress(listed.name, call) }
  const request = { name: listed.serverName, args: call.args }
  try {
    const answer = await withLink(server, call.context, (link) =>
      callToken.run(call.token, () => link.call(request, asked)),
    )
    const redactToken = createRedactor(answer.secrets, 'tokens')
    return describeResult(answer.result, (text) => redactToken(call.redact(text)))
  } catch (error) {
    call.signal.throwIfAborted()
    if (timer.aborted) return failTool('timeout', `${host} did not answer in ${server.timeoutMs / 1000} s`)
    throw explainMcpFailure(error, host)
  }
}

/** The most that a server's word on its progress is shown of. */
const longestProgress = 200

function reportProgress(name: string, { context: { tell }, redact }: CustomCall) {
  if (tell === undefined) return undefined
  return (told: { progress: number; total?: number | undefined; message?: string | undefined }) => {
    const part = told.total === undefined ? `${told.progress}` : `${told.progress} of ${told.total}`
    const message = told.message === undefined ? '' : `: ${told.message.replace(/\s+/g, ' ')}`
    tell(redact(`${name}: ${part}${message}`).slice(0, longestProgress))
  }
}
