// Changes an object, whoever else writes it meanwhile.
import type { Client } from '../../client/client.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { CatalogEntry } from './catalog.ts'
import { listDifferences, pickOwn } from './own-fields.ts'
import type { Spec } from './spec-options.ts'

const tries = 3

type ObjectRef = { name: string; query: { namespace?: string } }
type Stored = Record<string, unknown> & { metadata: { resourceVersion?: string; uid?: string }; spec?: Spec }

/** What changed, a line each. Another writer in between is no reason to refuse; a task that has started meanwhile is. */
export async function changeObject(
  client: Client,
  entry: CatalogEntry,
  { name, query }: ObjectRef,
  change: (spec: Spec) => Spec | Promise<Spec>,
): Promise<string[]> {
  const target = { params: { [entry.parameter]: name }, query }
  for (let left = tries; ; left -= 1) {
    const before = (await client.call(entry.get, target)) as unknown as Stored
    if (before.spec === undefined) throw new SvcError('InvalidRequest', `${entry.words[0]} ${name} cannot be changed`)
    const spec = await change(pickOwn(before).spec as Spec)
    const differences = listDifferences(entry.kind, before, { ...before, spec })
    if (differences.length === 0) return []
    const { resourceVersion, uid } = before.metadata
    const update = client.call(entry.update, { ...target, body: { metadata: { resourceVersion, uid }, spec } })
    if (await isTaken(update, left === 1)) return differences
  }
}

/** False when somebody else has written meanwhile, unless it was the last try. */
async function isTaken(update: Promise<unknown>, isLast: boolean): Promise<boolean> {
  try {
    await update
    return true
  } catch (error) {
    if (isLast || !isSvcError(error, 'Conflict') || error.details !== undefined) throw error
    return false
  }
}
