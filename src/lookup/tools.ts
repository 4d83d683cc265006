// Resolves Tools to what a call needs (address, credential, parameters), and Skills from their sources.
import { readSpec } from '../contract/api/resources/resource-body.ts'
import type { AssignedHttpTool, AssignedTool, McpServer } from '../contract/api/tools/assigned-tool.ts'
import { type SkillSource, type SkillSpec, skillLimits } from '../contract/kinds/tools/skill.ts'
import type { Tool } from '../contract/kinds/tools/tool.ts'
import { type ListedTool, ToolHttp, type ToolOauth } from '../contract/kinds/tools/tool-http.ts'
import { refuse } from '../contract/schema/validation.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { readGitAddress } from '../contract/values/repository-url.ts'
import { type ErrorReason, SvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { dropUndefined } from '../lib/json.ts'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { ReadFolder, RepositoryFolders } from '../ports/codehost/repository-folders.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { ActorAddress, ToolActors } from '../ports/tools/tools.ts'
import { CheckoutError, type CheckoutFault } from '../ports/workspaces/checkouts.ts'
import { findActorObstacle } from '../rules/identity/isolation.ts'
import { hasStatusOfSpec, readOutage } from '../rules/tools/choice.ts'
import { hashSkill, readSkillFolder, readSkillText } from '../rules/tools/skills.ts'
import { actorsAreOff, describeToolActor } from '../rules/workspaces/actor-templates.ts'
import { readEntry } from './entries.ts'
import { readGitLogin } from './logins.ts'

type SkillSourcePorts = {
  secrets: Secrets
  clock: Clock
  repositoryFolders?: RepositoryFolders | undefined
  /** Absent: Secrets of Apps cannot be used. */
  codeHosts?: CodeHosts | undefined
}

const owner = 'spec.source.secretRef'
const maxBytes = 1_048_576

const reasonOf: Partial<Record<CheckoutFault, ErrorReason>> = {
  AddressRefused: 'Forbidden',
  GitMissing: 'NotConfigured',
  DiskFull: 'StorageFull',
  Unreachable: 'UpstreamFailed',
  TooSlow: 'UpstreamFailed',
  GitFailed: 'UpstreamFailed',
}

/** What a checkout cannot do is a matter of what it was asked for, unless it says otherwise. */
function explain(error: unknown): unknown {
  if (!(error instanceof CheckoutError)) return error
  return new SvcError(reasonOf[error.fault] ?? 'InvalidRequest', error.message, { cause: error })
}

async function readFolder(
  { secrets, repositoryFolders, codeHosts }: SkillSourcePorts,
  namespace: string,
  source: SkillSource,
  signal: AbortSignal,
): Promise<ReadFolder> {
  const { codehost = '', path, ref, secretRef } = source
  if (repositoryFolders === undefined) throw new SvcError('NotConfigured', 'this service reads no repositories')
  const url = readGitAddress(codehost)
  const key = secretRef === undefined ? undefined : { namespace, name: secretRef.name }
  const credentials = key === undefined ? undefined : await readGitLogin(secrets, key, { owner, url, codeHosts })
  const limits = { files: skillLimits.files + 1, bytes: maxBytes }
  try {
    const folder = dropUndefined({ url: codehost, path, ref, credentials })
    return await repositoryFolders.read(folder, limits, signal)
  } catch (error) {
    throw explain(error)
  }
}

/**
 * The spec with what the source has now, pinned to its commit. InvalidRequest, NotFound, NotConfigured, Forbidden; UpstreamFailed
 * or StorageFull when the repository cannot be read now. The rights to the Secret are the caller's to check.
 */
export async function readSkillSource(
  ports: SkillSourcePorts,
  { namespace, before, source }: { namespace: string; before: SkillSpec | undefined; source: SkillSource },
  signal: AbortSignal,
): Promise<SkillSpec> {
  const { files, commit } = await readFolder(ports, namespace, source, signal)
  const texts = [...files].map(([path, bytes]) => [path, readSkillText(path, bytes)] as const)
  const { spec } = await readSkillFolder(source.path ?? 'the repository', Object.fromEntries(texts))
  const pin = { commit, contentHash: hashSkill(spec.content), readAt: ports.clock.now().toISOString() }
  const { value, problems } = readSpec('Skill', { ...before, ...spec, source: { ...source, ...pin } })
  refuse('skill', problems)
  return value as SkillSpec
}

export type ToolParts = {
  secrets: Secrets
  /** Absent: there are no actors. */
  toolActors?: ToolActors | undefined
}

/**
 * NotFound when its secret is missing or its server has not been asked for its tools yet, InvalidRequest when it cannot
 * be called; all as sentences for a user.
 */
export async function assignTool({ secrets, toolActors }: ToolParts, tool: Tool): Promise<AssignedTool> {
  if (tool.spec.mcp === undefined) return assignHttpTool(secrets, tool)
  if (!hasStatusOfSpec(tool)) {
    throw new SvcError('NotFound', `the server of tool "${tool.metadata.name}" has not been asked for its tools yet`)
  }
  const mcp = await assignServer(secrets, tool, addressOf(tool, toolActors))
  return { ...describe(tool), mcp, tools: tool.spec.mcp.url === undefined ? listOwn(tool) : (tool.status?.tools ?? []) }
}

/** An actor has one tool for the Tool: that of its name (MCP-016). */
function listOwn({ metadata, spec }: Tool): ListedTool[] {
  const { description, parameters } = spec
  return [{ name: metadata.name, serverName: metadata.name, description, parameters }]
}

/** As the settings say, not the status: who may write that decides nothing about where calls and their token go. */
function addressOf(tool: Tool, toolActors: ToolActors | undefined): ActorAddress | undefined {
  if (tool.spec.mcp?.actor === undefined) return undefined
  const { name } = tool.metadata
  if (toolActors === undefined) throw new SvcError('NotFound', `tool "${name}": mcp.actor ${actorsAreOff}`)
  const obstacle = findActorObstacle(tool, toolActors)
  if (obstacle !== undefined) throw new SvcError('InvalidRequest', `tool "${name}": ${obstacle}`)
  if (tool.status?.actor === undefined) throw new SvcError('NotFound', `tool "${name}" has no actor yet`)
  return toolActors.addressOf(describeToolActor(tool, toolActors))
}

/** `actor`: the address of its actor, if it has one. NotFound or InvalidRequest, as for `assignTool`. */
export async function assignServer(secrets: Secrets, tool: Tool, actor?: ActorAddress): Promise<McpServer> {
  const { url, oauth, path = '' } = tool.spec.mcp ?? {}
  const credential = oauth === undefined ? await readToolToken(secrets, tool) : await readClient(secrets, tool, oauth)
  if (url !== undefined) return { url, ...describeRequest(tool), ...credential }
  if (actor === undefined) throw new SvcError('NotFound', `tool "${tool.metadata.name}" has no actor yet`)
  const address = `${new URL(actor.router).protocol}//${actor.host}${path}`
  return { url: address, via: actor.router, ...describeRequest(tool), ...credential }
}

async function assignHttpTool(secrets: Secrets, tool: Tool): Promise<AssignedHttpTool> {
  const { http } = tool.spec
  if (http?.url === undefined) {
    throw new SvcError('InvalidRequest', `tool "${tool.metadata.name}": http.url is required for a tool without mcp`)
  }
  const { url, method, authInject: inject, authBodyKey: bodyKey } = http
  const { token, ...hosts } = await readToolToken(secrets, tool)
  const auth = token === undefined ? {} : { auth: { inject, token, bodyKey } }
  return { ...describe(tool), http: { url, method, ...describeRequest(tool), ...hosts, ...auth } }
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
