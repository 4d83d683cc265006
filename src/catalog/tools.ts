// Resolves Tool resources to what a call needs: address, credential, parameters.
import type { AssignedHttpTool, AssignedTool, McpServer } from '../contract/api/assigned-tool.ts'
import { findAwaited } from '../contract/awaited.ts'
import { parseDuration } from '../contract/duration.ts'
import { dropUndefined } from '../contract/json.ts'
import type { Tool } from '../contract/resources/tool.ts'
import { ToolHttp } from '../contract/resources/tool-http.ts'
import type { ToolOauth } from '../contract/resources/tool-mcp.ts'
import { summarize } from '../contract/validation.ts'
import { SvcError } from '../errors.ts'
import type { Secrets } from '../ports/secrets.ts'
import { hasStatusOfSpec, readOutage } from '../rules/tool-outage.ts'
import { readEntry } from './entries.ts'

/**
 * NotFound when its secret is missing or its server has not been asked for its tools yet, InvalidRequest when it cannot
 * be called; all as sentences for a user.
 */
export async function assignTool(secrets: Secrets, tool: Tool): Promise<AssignedTool> {
  if (tool.spec.mcp?.url === undefined) return assignHttpTool(secrets, tool)
  if (!hasStatusOfSpec(tool)) {
    throw new SvcError('NotFound', `the server of tool "${tool.metadata.name}" has not been asked for its tools yet`)
  }
  return { ...describe(tool), mcp: await assignServer(secrets, tool), tools: tool.status?.tools ?? [] }
}

/** NotFound or InvalidRequest, as for `assignTool`. */
export async function assignServer(secrets: Secrets, tool: Tool): Promise<McpServer> {
  const { url, oauth } = tool.spec.mcp ?? {}
  if (url === undefined) throw refuseTool(tool)
  const credential = oauth === undefined ? await readToolToken(secrets, tool) : await readClient(secrets, tool, oauth)
  return { url, ...describeRequest(tool), ...credential }
}

async function assignHttpTool(secrets: Secrets, tool: Tool): Promise<AssignedHttpTool> {
  const { http } = tool.spec
  if (http?.url === undefined) throw refuseTool(tool)
  const { url, method, authInject: inject, authBodyKey: bodyKey } = http
  const { token, ...hosts } = await readToolToken(secrets, tool)
  const auth = token === undefined ? {} : { auth: { inject, token, bodyKey } }
  return { ...describe(tool), http: { url, method, ...describeRequest(tool), ...hosts, ...auth } }
}

function refuseTool({ metadata, spec }: Tool): SvcError {
  return new SvcError('InvalidRequest', summarize(`tool "${metadata.name}"`, findAwaited('Tool', spec)))
}

function describe(tool: Tool) {
  const { name } = tool.metadata
  const { description, parameters } = tool.spec
  const outage = readOutage(tool)
  // Both vendor families require an object schema, even for a tool without arguments.
  const shown = { name, description, parameters: { type: 'object', properties: {}, ...parameters } }
  return outage === undefined ? shown : { ...shown, outage }
}

function describeRequest({ spec }: Tool) {
  const { headers = {}, timeout } = ToolHttp.parse(spec.http ?? {})
  return { headers, timeoutMs: parseDuration(timeout) }
}

async function readToolToken(
  secrets: Secrets,
  { metadata, spec }: Tool,
): Promise<{ token?: string; allowedHosts?: string[] | undefined }> {
  const reference = spec.http?.authSecretRef
  if (reference === undefined) return {}
  const key = { namespace: metadata.namespace, name: reference.name }
  const entry = { entry: reference.key, owner: `tool "${metadata.name}"` }
  const { value: token, allowedHosts } = await readEntry(secrets, key, entry)
  return { token, allowedHosts }
}

async function readClient(secrets: Secrets, { metadata }: Tool, oauth: ToolOauth) {
  const { issuer, clientID: clientId, clientSecretRef: reference, scope } = oauth
  const key = { namespace: metadata.namespace, name: reference.name }
  const entry = { entry: reference.key, owner: `tool "${metadata.name}"` }
  const { value: clientSecret, allowedHosts } = await readEntry(secrets, key, entry)
  return { oauth: { issuer, clientId, clientSecret, ...dropUndefined({ scope }) }, allowedHosts }
}
