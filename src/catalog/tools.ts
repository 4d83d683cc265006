// Resolves Tool resources to what a call needs: address, token, parameters.
import type { AssignedTool } from '../contract/api/assignment.ts'
import { findAwaited } from '../contract/awaited.ts'
import { parseDuration } from '../contract/duration.ts'
import type { Tool } from '../contract/resources/tool.ts'
import { summarize } from '../contract/validation.ts'
import { SvcError } from '../errors.ts'
import type { Secrets } from '../ports/secrets.ts'
import { readEntry } from './entries.ts'

/**
 * NotFound when its secret is missing, InvalidRequest when it cannot be called over HTTP; both as sentences for a user.
 */
export async function assignTool(secrets: Secrets, tool: Tool): Promise<AssignedTool> {
  const { name } = tool.metadata
  const { http } = tool.spec
  if (http?.url === undefined) {
    throw new SvcError('InvalidRequest', summarize(`tool "${name}"`, findAwaited('Tool', tool.spec, {})))
  }
  const { url, method, headers = {}, timeout } = http
  const credential = await readToolToken(secrets, tool)
  return {
    name,
    description: tool.spec.description,
    // Both vendor families require an object schema, even for a tool without arguments.
    parameters: { type: 'object', properties: {}, ...tool.spec.parameters },
    http: { url, method, headers, timeoutMs: parseDuration(timeout), ...credential },
  }
}

async function readToolToken(secrets: Secrets, tool: Tool) {
  const { authSecretRef, authInject, authBodyKey } = tool.spec.http ?? {}
  if (authSecretRef === undefined || authInject === undefined) return {}
  const key = { namespace: tool.metadata.namespace, name: authSecretRef.name }
  const entry = { entry: authSecretRef.key, owner: `tool "${tool.metadata.name}"` }
  const { value, allowedHosts } = await readEntry(secrets, key, entry)
  const auth = { inject: authInject, token: value, bodyKey: authBodyKey }
  return { auth, allowedHosts }
}
