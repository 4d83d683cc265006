// Saving what a form holds, without losing what somebody else has saved meanwhile.
import { isSvcError, SvcError } from '../../../../src/errors.ts'
import {
  createObject,
  type Manifest,
  type ObjectPath,
  readObject,
  replaceObject,
  type StoredObject,
} from './object-kinds.ts'

/** Somebody else has changed what is wanted since the form was opened. */
export class StaleForm extends Error {
  readonly newest: StoredObject

  constructor(newest: StoredObject) {
    super('it was changed by somebody else')
    this.newest = newest
  }
}

function sameWish(a: StoredObject, b: StoredObject): boolean {
  const wishOf = ({ metadata: { labels, annotations }, spec }: StoredObject) =>
    JSON.stringify([labels, annotations, spec])
  return a.metadata.generation === b.metadata.generation && wishOf(a) === wishOf(b)
}

/** An object keeps its name and its namespace; YAML may say otherwise. */
function refuseRenaming({ metadata }: Manifest, before: StoredObject): void {
  const details = (['name', 'namespace'] as const)
    .filter((field) => (metadata[field] ?? before.metadata[field]) !== before.metadata[field])
    .map((field) => ({ path: `metadata.${field}`, message: 'cannot be changed; create a new object instead' }))
  if (details.length > 0)
    throw new SvcError('InvalidRequest', 'An object keeps its name and its namespace.', { details })
}

/** `before`: the object as it was when the form was opened; absent: it is made. */
export async function saveObject(path: ObjectPath, body: Manifest, before?: StoredObject): Promise<StoredObject> {
  if (before === undefined) return createObject(path, body)
  refuseRenaming(body, before)
  try {
    return await replaceObject(path, body, before)
  } catch (error) {
    if (!isSvcError(error, 'Conflict')) throw error
    const newest = await readObject(path, before.metadata)
    // The service writes the status of objects all the time; that is nothing to ask about.
    if (sameWish(before, newest)) return replaceObject(path, body, newest)
    throw new StaleForm(newest)
  }
}
