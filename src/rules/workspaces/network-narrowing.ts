// What is left of a network where another one bounds it: of a task, no more than the task has that made it.
import { z } from 'zod'
import { type AppliedNetwork, type Narrowing, Network, networkSources } from '../../contract/kinds/tasks/network.ts'
import { type HostName, readHostName, writeHostName } from '../../contract/values/network-names.ts'
import { isNetworkPreset, listPresetHosts } from '../../contract/values/network-presets.ts'
import { parseQuantity } from '../../contract/values/quantity.ts'
import { tryParseJson } from '../../lib/json.ts'

/** `repositories`: hosts that the preset `codehost` stands for besides those that are the same for everybody. */
type Side = { network: Network; repositories: readonly string[] }
/** What no more than may be had, and by whom. */
export type Bound = Side & { by: Narrowing }

/** Of a task above that is gone: nobody knows what it had. */
export const goneBound: Bound = {
  network: { allow: [], onUnknown: 'refuse' },
  by: { from: 'task' },
  repositories: [],
}

/** Annotation of a task that repeats one which was narrowed: what that one had. Only the service writes it. */
export const narrowedAnnotation = 'svc.ai/network-bound'

// Two lists that are joined may be longer than one that somebody writes.
const Note = Network.extend({ allow: z.array(z.string()), task: z.string().optional(), from: z.enum(networkSources) })

/** The annotation of a task that repeats this one; none where nothing has narrowed it. */
export function noteNarrowed({ narrowedBy, from: _from, ...network }: AppliedNetwork): Record<string, string> {
  return narrowedBy === undefined ? {} : { [narrowedAnnotation]: JSON.stringify({ ...network, ...narrowedBy }) }
}

/** What the note says; one that cannot be read leaves nothing. */
export function readNarrowed(noted: string | undefined, repositories: readonly string[]): Bound[] {
  if (noted === undefined) return []
  const note = Note.safeParse(tryParseJson(noted))
  if (!note.success) return [goneBound]
  const { task, from, ...network } = note.data
  return [{ network, by: { from, ...(task !== undefined && { task }) }, repositories }]
}

/** A port that is not named is one of `ports`; undefined where there is none that both name. */
function meetPorts(
  a: number | undefined,
  b: number | undefined,
  ports: readonly number[],
): { port?: number } | undefined {
  if (a === b) return a === undefined ? {} : { port: a }
  const port = a ?? b
  if (port === undefined || (a !== undefined && b !== undefined)) return undefined
  return ports.includes(port) ? { port } : undefined
}

function coversHosts(outer: HostName, inner: HostName): boolean {
  if (outer.isSuffix === true) return inner.host.endsWith(`.${outer.host}`) || isSameHosts(outer, inner)
  return isSameHosts(outer, inner)
}

const isSameHosts = (a: HostName, b: HostName) => a.host === b.host && a.isSuffix === b.isSuffix

/** What both patterns stand for. */
function meet(a: HostName, b: HostName, ports: readonly number[]): HostName | undefined {
  const inner = [b, a].find((one) => coversHosts(one === b ? a : b, one))
  const port = meetPorts(a.port, b.port, ports)
  if (inner === undefined || port === undefined) return undefined
  return { host: inner.host, ...port, ...(inner.isSuffix && { isSuffix: true }) }
}

type Entry = { entry: string; patterns: HostName[] }

function readEntries({ network, repositories }: Side): Entry[] {
  return network.allow.map((entry) => {
    const more = entry === 'codehost' ? repositories : []
    const hosts = isNetworkPreset(entry) ? [...listPresetHosts(entry), ...more] : [entry]
    return { entry, patterns: hosts.flatMap((host) => readHostName(host) ?? []) }
  })
}

const strictest = ['refuse', 'ask', 'allow'] as const

function narrowLimit(own: Network['limits'], bound: Network['limits']): Pick<Network, 'limits'> {
  if (own === undefined || bound === undefined) {
    const limits = own ?? bound
    return limits === undefined ? {} : { limits }
  }
  const connections = Math.min(
    own.connections ?? Number.POSITIVE_INFINITY,
    bound.connections ?? Number.POSITIVE_INFINITY,
  )
  const sizes = [own.bytes, bound.bytes].flatMap((bytes) => (bytes === undefined ? [] : [bytes]))
  const [bytes] = sizes.toSorted((a, b) => parseQuantity(a) - parseQuantity(b))
  return { limits: { ...(Number.isFinite(connections) && { connections }), ...(bytes !== undefined && { bytes }) } }
}

/** The entries of one side that the other one allows, as they are written where all that they stand for is. */
function keepAllowed(from: Side, by: Side, ports: readonly number[]): string[] {
  const others = readEntries(by).flatMap(({ patterns }) => patterns)
  const meetAll = (pattern: HostName) => {
    if (by.network.onUnknown === 'allow' && (pattern.port === undefined || ports.includes(pattern.port)))
      return [pattern]
    return others.flatMap((other) => meet(pattern, other, ports) ?? [])
  }
  return readEntries(from).flatMap(({ entry, patterns }) => {
    // The hosts of providers are not known here: `model` stays whole only where the other side has it as well.
    if (entry === 'model' && by.network.allow.includes('model')) return [entry]
    const left = patterns.map((pattern) => ({
      whole: writeHostName(pattern),
      met: meetAll(pattern).map(writeHostName),
    }))
    const isWhole = entry !== 'model' && left.every(({ whole, met }) => met.includes(whole))
    return isWhole ? [entry] : left.flatMap(({ met }) => met)
  })
}

/** What a network that is the machine's becomes: that of the bound, whose repositories are named. */
function fillOpen({ network, repositories }: Side): Network {
  return { ...network, allow: [...network.allow, ...(network.allow.includes('codehost') ? repositories : [])] }
}

/** With the hosts of its code host by name: for another task the preset stands for others. */
function spellCodeHosts({ network, repositories }: Side): Side {
  const hosts = [...listPresetHosts('codehost'), ...repositories]
  const allow = network.allow.flatMap((entry) => (entry === 'codehost' ? hosts : [entry]))
  return { network: { ...network, allow }, repositories: [] }
}

const isOpen = ({ allow }: Network) => allow.includes('open')

/**
 * What both allow; never more, and less only where the one lists what the other asks about: that is asked about where the first asks as
 * well, and else refused. The network as it is where the bound allows all of it.
 */
export function narrowNetwork(
  applied: AppliedNetwork,
  bound: Bound,
  { repositories, ports }: { repositories: readonly string[]; ports: readonly number[] },
): AppliedNetwork {
  if (isOpen(bound.network)) return applied
  const wanted = { network: isOpen(applied) ? fillOpen(bound) : applied, repositories }
  const allowed = keepAllowed(wanted, bound, ports)
  const more = wanted.network.onUnknown === 'allow' ? keepAllowed(spellCodeHosts(bound), wanted, ports) : []
  const allow = [...new Set([...allowed, ...more])].filter((entry) => entry !== 'none')
  const unknown = Math.min(...[wanted, bound].map(({ network }) => strictest.indexOf(network.onUnknown)))
  const onUnknown = strictest[unknown] ?? 'refuse'
  const limits = narrowLimit(wanted.network.limits, bound.network.limits)
  const own = applied.allow.filter((entry) => entry !== 'none')
  const isNarrower =
    onUnknown !== applied.onUnknown ||
    own.length !== allow.length ||
    own.some((entry) => !allow.includes(entry)) ||
    JSON.stringify(limits.limits) !== JSON.stringify(applied.limits)
  return isNarrower ? { allow, onUnknown, ...limits, from: applied.from, narrowedBy: bound.by } : applied
}
