// How a change looks to whoever sees only the objects that match a filter.
import type { Kind } from '../../contract/kinds/index.ts'
import type { ObjectFilter, TextChange } from '../../ports/resources/resources.ts'
import { checkFields, matchesFields, matchesSearch } from '../../rules/resources/fields.ts'
import { matchesLabels, parseLabelSelector } from '../../rules/resources/selectors.ts'
import type { Change } from './change-ring.ts'
import type { StoredObject } from './stored-object.ts'

/** The change as it is published; undefined where it does not show. */
export type ChangeFilter = (change: Change) => TextChange['type'] | undefined

type States = { is: StoredObject; was: StoredObject | undefined }

// Parsed once for all watches with a filter, kept only as long as one of them holds it.
const shared = new WeakMap<Change, WeakRef<States>>()

function parseStates(change: Change): States {
  const known = shared.get(change)?.deref()
  if (known !== undefined) return known
  const { object, before } = change
  const states = { is: JSON.parse(object), was: before === undefined ? undefined : JSON.parse(before) }
  shared.set(change, new WeakRef(states))
  return states
}

/** InvalidRequest when the selector or a field is invalid for one of the kinds. */
export function createChangeFilter(
  kinds: readonly Kind[],
  { names, search, labelSelector = '', fields = {} }: ObjectFilter,
): ChangeFilter {
  for (const kind of kinds) checkFields(kind, fields)
  const requirements = parseLabelSelector(labelSelector)
  const named = names && new Set(names)
  const isOfAll = requirements.length === 0 && Object.keys(fields).length === 0
  const matches = (object: StoredObject | undefined) =>
    object !== undefined &&
    matchesLabels(requirements, object.metadata.labels) &&
    matchesFields(object.kind, fields, object)

  function compare(change: Change): TextChange['type'] | undefined {
    const { is, was } = parseStates(change)
    if (change.type === 'DELETED') return matches(was ?? is) ? 'DELETED' : undefined
    const types = matches(was) ? (['MODIFIED', 'DELETED'] as const) : (['ADDED', undefined] as const)
    return types[matches(is) ? 0 : 1]
  }

  return (change) => {
    if (named?.has(change.name) === false || !matchesSearch(change.name, search)) return undefined
    return isOfAll ? change.type : compare(change)
  }
}
