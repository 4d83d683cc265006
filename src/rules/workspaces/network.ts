// Which network the programs of a task have: who says it, what it comes to, and whether it is wider than it may be.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type {
  AppliedNetwork,
  Network,
  NetworkRules,
  NetworkSource,
  TrafficLimits,
} from '../../contract/kinds/tasks/network.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { type HostName, matchesHost, normalizeHost, readHostName } from '../../contract/values/network-names.ts'
import { isNetworkPreset, listPresetHosts, usualNetwork } from '../../contract/values/network-presets.ts'
import { parseQuantity } from '../../contract/values/quantity.ts'
import { readGitAddress } from '../../contract/values/repository-url.ts'
import { dropUndefined } from '../../lib/json.ts'
import { type ContextMode, listAllowedHosts } from '../identity/context-token.ts'
import { gitWorkspaceOf } from './git-workspace.ts'
import { type Bound, goneBound, narrowedAnnotation, narrowNetwork, readNarrowed } from './network-narrowing.ts'

export type NetworkSettings = {
  /** Of agent programs, where neither their task nor their agent or namespace says anything. */
  agents: readonly string[]
  /** Of commands and containers. */
  commands: readonly string[]
  onUnknown: Network['onUnknown']
  /** Of all programs in a namespace. */
  namespaces: Readonly<Record<string, Network>>
  /** Whether tasks and agents may have `open` where it is not what their namespace has. */
  allowsOpen: boolean
  /** Ports that are reached without being named. */
  ports: readonly number[]
  /** Namespaces whose tasks have the network that they would have by themselves, whatever the tasks have that made them. */
  independent: readonly string[]
}

export const defaultNetworkSettings: NetworkSettings = {
  ...usualNetwork,
  onUnknown: 'refuse',
  namespaces: {},
  allowsOpen: false,
  independent: [],
}

type Choice = { namespace: string; type: TaskSpec['type'] }

/** What holds in the namespace for programs whose task and agent say nothing. */
export function networkOfNamespace({ namespace, type }: Choice, settings: NetworkSettings): AppliedNetwork {
  const ofNamespace = settings.namespaces[namespace]
  if (ofNamespace !== undefined) return { ...ofNamespace, from: 'namespace' }
  const allow = [...(type === 'agent' ? settings.agents : settings.commands)]
  return { allow, onUnknown: settings.onUnknown, from: 'service' }
}

/** Whether programs have the network of the machine, and no gate before it. */
export function hasOpenNetwork({ allow }: Pick<Network, 'allow'>): boolean {
  return allow.includes('open')
}

function listPatterns(entries: readonly string[]): HostName[] {
  return entries
    .flatMap((entry) => (isNetworkPreset(entry) ? listPresetHosts(entry) : [entry]))
    .flatMap((entry) => readHostName(entry) ?? [])
}

/** Whether all that `inner` stands for is what `outer` stands for. */
function covers(outer: HostName, inner: HostName): boolean {
  if (outer.port !== undefined && outer.port !== inner.port) return false
  if (inner.isSuffix !== true) return matchesHost(outer, { host: inner.host })
  return outer.isSuffix === true && `.${inner.host}`.endsWith(`.${outer.host}`)
}

/** What of a network goes beyond the other; empty: nothing. */
export function findWider(wanted: Network, base: Network): string[] {
  if (hasOpenNetwork(base)) return []
  if (hasOpenNetwork(wanted)) return ['open']
  if (base.onUnknown === 'allow') return []
  const patterns = listPatterns(base.allow)
  const entries = wanted.allow.filter((entry) => {
    if (entry === 'none' || base.allow.includes(entry)) return false
    const pattern = isNetworkPreset(entry) ? undefined : readHostName(entry)
    return pattern === undefined || !patterns.some((outer) => covers(outer, pattern))
  })
  return wanted.onUnknown === 'allow' ? [...entries, 'onUnknown: allow'] : entries
}

/** What the task says, else its agent, else its namespace, else the service; nothing that may no longer be had. */
function chooseNetwork({ task, agent }: Member, settings: NetworkSettings): AppliedNetwork {
  const { namespace } = task.metadata
  const base = networkOfNamespace({ namespace, type: task.spec.type }, settings)
  const mayHave = (network: Network) => !hasOpenNetwork(network) || hasOpenNetwork(base) || settings.allowsOpen
  const { network: own } = task.spec
  if (own !== undefined && mayHave(own)) return { ...own, from: 'task' }
  const ofAgent = task.spec.type === 'container' ? undefined : agent?.spec.network
  if (agent === undefined || ofAgent === undefined || !mayHave(ofAgent)) return base
  // Whoever allowed it did so for the namespace of the agent.
  const isForeign = agent.metadata.namespace !== namespace
  return isForeign && findWider(ofAgent, base).length > 0 ? base : { ...ofAgent, from: 'agent' }
}

/** A task, with its agent as it is now. */
export type Member = { task: Task; agent: Agent | undefined }
/** A task with those that it descends from, its parent first; undefined for one that is gone. */
export type Lineage = Member & { ancestors: readonly (Member | undefined)[] }

/** What a task leaves to those that descend from it; one of type ai has no programs, so that no setting is about it. */
function listBounds(member: Member, settings: NetworkSettings): Bound[] {
  const { task } = member
  const { name, annotations } = task.metadata
  const repositories = listRepositoryHosts(task)
  const { from, ...network } = chooseNetwork(member, settings)
  // What its agent says bounds it also where the namespace has less than that.
  const isUnsaid = task.spec.type === 'ai' && from === 'service' && member.agent?.spec.network === undefined
  const noted = readNarrowed(annotations?.[narrowedAnnotation], repositories)
  return isUnsaid ? noted : [{ network, by: { task: name, from }, repositories }, ...noted]
}

function listAllBounds(members: Lineage['ancestors'], settings: NetworkSettings): Bound[] {
  return members.flatMap((one) => (one === undefined ? [goneBound] : listBounds(one, settings)))
}

/** What applies: what the task would have by itself, and of that no more than each of those has that it descends from. */
export function applyNetwork({ ancestors, ...member }: Lineage, settings: NetworkSettings): AppliedNetwork {
  const own = chooseNetwork(member, settings)
  const { namespace, annotations } = member.task.metadata
  if (settings.independent.includes(namespace)) return own
  const sides = { repositories: listRepositoryHosts(member.task), ports: settings.ports }
  const noted = readNarrowed(annotations?.[narrowedAnnotation], sides.repositories)
  return [...noted, ...listAllBounds(ancestors, settings)].reduce(
    (left, bound) => narrowNetwork(left, bound, sides),
    own,
  )
}

/** What the presets `codehost` and `model` mean besides the hosts that are the same for everybody. */
type OwnHosts = { codehost: readonly string[]; model: readonly string[] }

function listRepositories({ spec }: Pick<Task, 'spec'>): URL[] {
  const { gitRepo, forkRepo } = gitWorkspaceOf(spec) ?? {}
  return [gitRepo, forkRepo].flatMap((address) => (address === undefined ? [] : (readGitAddress(address) ?? [])))
}

/** The hosts of the repositories that the task works with. */
export function listRepositoryHosts(task: Pick<Task, 'spec'>): string[] {
  return listRepositories(task).flatMap(({ href }) => listHostOf(href))
}

/** The host of an address as allowlists write it, with its port if it has one of its own; none where it has no host. */
export function listHostOf(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url === undefined || normalizeHost(url.hostname) === undefined ? [] : [url.host]
}

function listHosts(entries: readonly string[], own: OwnHosts): string[] {
  return entries.flatMap((entry) => {
    if (!isNetworkPreset(entry)) return [entry]
    const more = entry === 'codehost' || entry === 'model' ? own[entry] : []
    return [...listPresetHosts(entry), ...more]
  })
}

function readLimits({ connections, bytes }: NonNullable<Network['limits']>): TrafficLimits {
  return dropUndefined({ connections, bytes: bytes === undefined ? undefined : parseQuantity(bytes) })
}

/** What the service allows to every task, or less where the task or agent says so. */
export function narrowLimits(service: Required<TrafficLimits>, own: TrafficLimits = {}): Required<TrafficLimits> {
  const { connections = service.connections, bytes = service.bytes } = own
  return { connections: Math.min(service.connections, connections), bytes: Math.min(service.bytes, bytes) }
}

/** `within`: what a context token narrows the network to. */
export function makeNetworkRules(
  { allow, onUnknown, limits }: Network,
  { own, ports, within }: { own: OwnHosts; ports: readonly number[]; within?: readonly string[] | undefined },
): NetworkRules {
  const rules = { allow: listHosts(allow, own), onUnknown, ports, ...(limits && { limits: readLimits(limits) }) }
  return within === undefined ? rules : { ...rules, within: listHosts(within, own) }
}

type Limiting = {
  settings: NetworkSettings
  contextMode: ContextMode
  /** Hosts of the providers that the preset `model` stands for, besides the vendors'. */
  model: readonly string[]
}

/** Undefined for a task whose programs have the network of the machine or pod, and for one without programs. */
export function limitNetwork(
  lineage: Lineage,
  { settings, contextMode, model }: Limiting,
): { rules: NetworkRules; from: NetworkSource } | undefined {
  const { task } = lineage
  if (task.spec.type === 'ai') return undefined
  const applied = applyNetwork(lineage, settings)
  if (hasOpenNetwork(applied)) return undefined
  const { context } = task.spec.transaction ?? {}
  const within = context && listAllowedHosts(context, contextMode)
  const own = { codehost: listRepositoryHosts(task), model }
  const { from, narrowedBy } = applied
  // What was said of a parent has to hold as what was said of the task itself.
  return {
    rules: makeNetworkRules(applied, { own, ports: settings.ports, within }),
    from: from === 'service' ? (narrowedBy?.from ?? from) : from,
  }
}

/** Finds the entry of the network that allows a host, or `onUnknown`; undefined where neither does. Made once for all hosts. */
export function createAllowingSearch(
  { allow, onUnknown }: Network,
  { own, ports }: { own: OwnHosts; ports: readonly number[] },
): (host: { host: string; port: number }) => string | undefined {
  const judgeBy = (rules: Network) => createHostJudge(makeNetworkRules(rules, { own, ports }))
  const judges = [
    ...allow.map((entry) => ({ entry, judge: judgeBy({ allow: [entry], onUnknown: 'refuse' }) })),
    { entry: 'onUnknown', judge: judgeBy({ allow: [], onUnknown }) },
  ]
  return ({ host, port }) => judges.find(({ judge }) => judge(host, port) === 'allow')?.entry
}

/** `host` is written as `normalizeHost` does. */
export type HostJudge = (host: string, port: number) => Network['onUnknown']

/** Made once, and asked for each connection. */
export function createHostJudge({ allow, onUnknown, within, ports }: NetworkRules): HostJudge {
  const read = (hosts: readonly string[]) => hosts.flatMap((host) => readHostName(host) ?? [])
  const stands = (patterns: readonly HostName[], host: string, port: number) =>
    patterns.some((pattern) => (pattern.port ?? port) === port && matchesHost(pattern, { host, port }))
  const isUsual = (port: number) => ports.includes(port)
  const allowed = read(allow)
  const bounds = within && read(within)
  return (host, port) => {
    if (bounds !== undefined && !stands(bounds, host, port)) return 'refuse'
    const isListed = allowed.some(
      (pattern) => (pattern.port === port || isUsual(port)) && matchesHost(pattern, { host, port }),
    )
    if (isListed) return 'allow'
    return isUsual(port) ? onUnknown : 'refuse'
  }
}

/**
 * Hosts of the repositories of `made` that a task does not leave to what it makes, but for those that it works with itself. One that
 * no allowlist can name is left to nobody.
 */
export function findUnreached(
  { ancestors, ...member }: Lineage,
  made: Pick<Task, 'spec'>,
  settings: NetworkSettings,
): string[] {
  if (settings.independent.includes(member.task.metadata.namespace)) return []
  const bounds = listAllBounds([member, ...ancestors], settings)
  const own = listRepositoryHosts(member.task)
  const judges = bounds
    .filter(({ network }) => !hasOpenNetwork(network))
    .map(({ network, repositories }) =>
      createHostJudge(makeNetworkRules(network, { own: { codehost: repositories, model: [] }, ports: settings.ports })),
    )
  return listRepositories(made).flatMap((url) => {
    const [each] = listHostOf(url.href)
    const { host = '', port = 443 } = readHostName(each ?? '') ?? {}
    const isOwn = each !== undefined && own.includes(each)
    return !isOwn && judges.some((judge) => judge(host, port) !== 'allow') ? [url.host] : []
  })
}
