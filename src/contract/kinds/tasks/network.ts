// What the programs of a task may reach: names of hosts and presets, and what becomes of a host that none of them names.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { readHostName } from '../../values/network-names.ts'
import { isNetworkPreset, networkPresets } from '../../values/network-presets.ts'
import { Quantity } from '../../values/quantity.ts'

export const unknownHosts = ['refuse', 'ask', 'allow'] as const
/** What becomes of a host that the list does not name. */
export type UnknownHosts = (typeof unknownHosts)[number]

/** A preset, or `host`, `host:port`, `*.domain`. */
export const NetworkEntry = limitedText(261)
  .min(1, 'must not be empty')
  .regex(/^[^\s/@?#\\,]+$/, 'must be a preset or the name of a host, without a scheme and a path')
  .refine(
    (entry) => isNetworkPreset(entry) || readHostName(entry) !== undefined,
    `must be one of ${networkPresets.join(', ')}, or a host such as example.com, example.com:8443 or *.example.com`,
  )

/** How much of the network programs may use; what is not named is limited by the service alone. */
export const NetworkLimits = z.strictObject({
  connections: field(
    z.int().min(1, 'must be at least 1').max(100_000, 'must be at most 100000').optional(),
    'Connections that may be open at once. The setting `--network-connections` limits them as well; the smaller of both holds.',
    20,
  ),
  bytes: field(
    Quantity.optional(),
    'Bytes that the programs of one task may send and receive together, as a quantity. The setting `--network-bytes` limits them as well; the smaller of both holds.',
    '2Gi',
  ),
})

/** The network of a task's programs. */
export const Network = z.strictObject({
  allow: field(
    z
      .array(NetworkEntry)
      .max(200, 'must be at most 200')
      .refine(
        (entries) => entries.length < 2 || !entries.some((entry) => entry === 'open' || entry === 'none'),
        'must have nothing beside open or none',
      ),
    'Hosts that may be reached: names (`example.com`, `*.example.com`, `example.com:8443`) and presets: `packages` (registries of npm, PyPI, crates, Go, Maven, Debian), `codehost` (the host of the repository, and known code hosts), `model` (vendors and providers of models), `none`, and `open` (the network of the machine or pod as it is, where the operator allows it).',
    ['packages', 'codehost', '*.example.com'],
  ),
  onUnknown: field(
    z.enum(unknownHosts).default('refuse'),
    'What becomes of a host that is not listed: `refuse`; `ask` a person, which refuses until there is an answer; `allow` it, and write it down.',
  ),
  limits: field(
    NetworkLimits.optional(),
    'Limits of connections and bytes. They hold where there is a gate, so not with `open`. What goes beyond is refused, and said once in the events of the task.',
  ),
})
export type Network = z.infer<typeof Network>

export const networkSources = ['task', 'agent', 'namespace', 'service'] as const
/** Who said what applies: the first of them that says anything. */
export type NetworkSource = (typeof networkSources)[number]

/** The task above it that has less than it would have, if that is there, and who says so of that one. */
export type Narrowing = { task?: string; from: NetworkSource }

/** What applies to a task. `from`: who says so of the task itself. */
export type AppliedNetwork = Network & { from: NetworkSource; narrowedBy?: Narrowing }

/** What a gate decides by: names, and how much there was. */
export type NetworkRules = {
  /** Hosts as allowlists write them, without presets. */
  allow: string[]
  onUnknown: UnknownHosts
  /** Present: nothing else is reached, whatever is allowed otherwise; hosts as in `allow`. */
  within?: string[]
  /** Ports that are reached without being named. */
  ports: readonly number[]
  /** Present: below what the service allows to every task. */
  limits?: TrafficLimits
}

/** Connections at once, and bytes sent and received together. */
export type TrafficLimits = { connections?: number; bytes?: number }
