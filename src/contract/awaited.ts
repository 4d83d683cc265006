// Fields of the contract whose capabilities the service does not have yet; every entry point refuses them.
import type { Problem } from '../errors.ts'
import type { Kind } from './resources/index.ts'

/** Capabilities that are still to come, as refusals name them. */
export const awaitedCapabilities = {
  mcpActors: 'MCP tools on actors',
} as const
/** A part of the service that does not exist yet. */
export type AwaitedCapability = keyof typeof awaitedCapabilities

/** A field that has no effect until such a part exists. */
export type AwaitedField = {
  kind: Kind
  /** The dotted path in the spec; `[]` stands for every entry of a list. Empty: no object of the kind can be created. */
  path: string
  /** The values that are refused; absent: any value. */
  values?: readonly (string | boolean)[]
  /** The part of the spec that is meaningless without the capability; absent: the value at the path. */
  governs?: string
  capability: AwaitedCapability
  /** What to do in the meantime. */
  instead: string
}

/** All refusals of capabilities that do not exist yet. */
export const awaitedFields: readonly AwaitedField[] = [
  { kind: 'Tool', path: 'mcp.actor', capability: 'mcpActors', instead: 'name the address of the server (mcp.url)' },
]

/** The text of the refusal, which follows the path; `value` is the refused value. */
export function describeAwaited({ capability, instead }: AwaitedField, value?: unknown): string {
  const asked = typeof value === 'string' ? `"${value}" ` : ''
  return `${asked}waits for ${awaitedCapabilities[capability]}, which this service does not have yet; ${instead}`
}

type Found = { path: string; value: unknown }

function step(found: Found[], part: string): Found[] {
  const key = part.replace('[]', '')
  const inside = found.flatMap(({ path, value }) => {
    const held = key === '' ? value : (value as Record<string, unknown> | undefined)?.[key]
    return held === undefined ? [] : [{ path: path === '' ? key : `${path}.${key}`, value: held }]
  })
  if (!part.endsWith('[]')) return inside
  return inside.flatMap(({ path, value }) =>
    (Array.isArray(value) ? value : []).map((entry, at) => ({ path: `${path}[${at}]`, value: entry as unknown })),
  )
}

function findValues(spec: object, { path, values }: AwaitedField): Found[] {
  if (path === '') return [{ path: '', value: spec }]
  const found = path.split('.').reduce<Found[]>(step, [{ path: '', value: spec }])
  return values === undefined ? found : found.filter(({ value }) => values.includes(value as string))
}

/** A problem for each part of a spec that the service cannot do yet; paths are relative to the spec. */
export function findAwaited(kind: Kind, spec: object): Problem[] {
  return awaitedFields
    .filter((field) => field.kind === kind)
    .flatMap((field) =>
      findValues(spec, field).map(({ path, value }) => ({ path, message: describeAwaited(field, value) })),
    )
}

/** A CEL expression that tells whether an object uses the field; `root` is the expression for the spec. */
export function writeAwaitedRule({ path, values }: AwaitedField, root: string): string {
  if (path === '') return 'true'
  const oneOf = (what: string) =>
    `${what} in [${(values ?? []).map((value) => JSON.stringify(value).replaceAll('"', "'")).join(', ')}]`
  const [before = '', after] = path.split('[]')
  const parts = before.split('.')
  const known = parts.map((_part, at) => `has(${root}.${parts.slice(0, at + 1).join('.')})`)
  const last = `${root}.${before}`
  if (after !== undefined) return [...known, `${last}.exists(entry, ${oneOf(`entry${after}`)})`].join(' && ')
  return (values === undefined ? known : [...known, oneOf(last)]).join(' && ')
}
