// What options name must be there: a typo is said at once, with a guess. Waiting for what comes later is for files and programs.
import { Option } from 'commander'
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { listSessions, type SessionItem } from '../../contract/api/chat/sessions.ts'
import { listSecrets } from '../../contract/api/resources/secrets.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { findNearest } from '../../lib/nearest.ts'
import type { CliCall } from '../context.ts'
import { namespaceQuery } from '../global-options.ts'
import { listPages } from '../output/paging.ts'
import { findEntry } from './kinds.ts'
import type { OptionValues, SpecOption } from './spec-options.ts'

export type NamedKind = NonNullable<SpecOption['names']>

type Item = { name?: string; metadata?: { name: string } }
type Reading = CliCall & { client: Client }

const maxNames = 500
const maxListed = 6

/** `there is no agent "reviwer"; did you mean reviewer?`, or what there is instead. */
export function explainMissing(kind: string, name: string, known: readonly string[]): string {
  const nearest = findNearest(name, known)
  const list = `\`${commandHint(`${kind} list`)}\` shows what there is`
  const others = known.length > 0 && known.length <= maxListed ? `there is ${known.join(', ')}` : list
  return `there is no ${kind} "${name}"; ${nearest === undefined ? others : `did you mean ${nearest}?`}`
}

async function listNames(kind: NamedKind, { client, options }: Reading): Promise<string[]> {
  const route = kind === 'secret' ? listSecrets : findEntry(kind).list
  const { items } = await listPages<Item>(client, route, { query: namespaceQuery(options), limit: maxNames })
  return items.flatMap(({ name, metadata }) => metadata?.name ?? name ?? [])
}

const maxSessions = 200

/** Says so where a session is made by being named, with the one that may have been meant. */
export async function noteNewSession(client: Client, name: string, { options, context }: CliCall): Promise<void> {
  const { items } = await listPages<SessionItem>(client, listSessions, {
    query: namespaceQuery(options),
    limit: maxSessions,
  })
  const known = items.map((item) => item.name)
  if (known.includes(name) || items.length >= maxSessions) return
  const nearest = findNearest(name, known)
  context.terminal.note(`session ${name} is new${nearest === undefined ? '' : `; did you mean ${nearest}?`}`)
}

/** Undefined where the caller may not look: the service judges what it is sent. */
function ignoreForbidden(error: unknown): undefined {
  if (!isSvcError(error, 'Forbidden')) throw error
}

async function exists(kind: NamedKind, name: string, reading: Reading): Promise<boolean> {
  if (kind === 'secret') {
    const names = await listNames(kind, reading).catch(ignoreForbidden)
    return names === undefined || names.length >= maxNames || names.includes(name)
  }
  const { get, parameter } = findEntry(kind)
  try {
    await reading.client.call(get, { params: { [parameter]: name }, query: namespaceQuery(reading.options) })
    return true
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return false
    return ignoreForbidden(error) ?? true
  }
}

/** InvalidRequest, with a guess, where there is no object of that name. */
export async function requireNamed(kind: NamedKind, name: string, reading: Reading): Promise<void> {
  if (await exists(kind, name, reading)) return
  const known = (await listNames(kind, reading).catch(ignoreForbidden)) ?? []
  throw new SvcError('InvalidRequest', explainMissing(kind, name, known))
}

/** The same for each name that the options of a line give. */
export async function requireAllNamed(
  options: readonly SpecOption[],
  values: OptionValues,
  reading: Reading,
): Promise<void> {
  for (const { flags, names } of options) {
    const text = values[new Option(flags).attributeName()]
    // An empty text takes a field out.
    if (names === undefined || typeof text !== 'string' || text === '') continue
    await requireNamed(names, text.split('/')[0] ?? '', reading)
  }
}
