// A list's filters: the part that the SQL index can answer, and the test of each remaining object.
import type { Kind } from '../../contract/kinds/index.ts'
import type { ResourceQuery } from '../../ports/resources/resources.ts'
import { checkFields, listFields, matchesFields, matchesSearch } from '../../rules/resources/fields.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../../rules/resources/selectors.ts'
import { encodeText } from '../database/stored-text.ts'
import { type IndexEntry, labelField, type StoredObject } from '../watching/stored-object.ts'

/** A condition on indexed values: the object has (or has not) one of them. */
export type IndexCondition = { field: string; values: string[]; isNegated: boolean }

export type ResourceFilter = {
  /** The object has all of these; one of them can drive the search. */
  equalities: IndexEntry[]
  /** Further conditions that the index can answer. */
  conditions: IndexCondition[]
  /** Absent: any. */
  names: readonly string[] | undefined
  /** Text in names, in lower case; absent: any. */
  search: string | undefined
  /** False for an empty filter. */
  isFiltering: boolean
  /** Whether an object that meets the equalities and the conditions matches. */
  isIndexed: boolean
  /** The complete test; equalities and conditions only narrow the search. */
  matches(object: StoredObject): boolean
}

type IndexedRequirement = Extract<LabelRequirement, { operator: 'in' | 'notin' }>

function isIndexedRequirement(requirement: LabelRequirement): requirement is IndexedRequirement {
  return requirement.operator === 'in' || requirement.operator === 'notin'
}

function toConditions(requirements: LabelRequirement[]): IndexCondition[] {
  return requirements.filter(isIndexedRequirement).map(({ operator, key, values }) => ({
    field: labelField(key),
    values: values.map(encodeText),
    isNegated: operator === 'notin',
  }))
}

/** InvalidRequest when the selector or a field is invalid. */
export function parseFilter(kind: Kind, query: ResourceQuery): ResourceFilter {
  const fields = query.fields ?? {}
  checkFields(kind, fields)
  const requirements = parseLabelSelector(query.labelSelector ?? '')
  // Of values that many objects have, the earlier one drives the search: labels first, then fields by selectivity.
  const names = query.names && new Set(query.names)
  const ofFields = listFields(kind).flatMap((field) => {
    const value = fields[field]
    return value === undefined ? [] : [{ field, values: [value].flat().map(encodeText), isNegated: false }]
  })
  const all: IndexCondition[] = [...toConditions(requirements), ...ofFields]
  const isEquality = (condition: IndexCondition) => condition.values.length === 1 && !condition.isNegated
  return {
    equalities: all.filter(isEquality).map(({ field, values }) => ({ field, value: values[0] ?? '' })),
    conditions: all.filter((condition) => !isEquality(condition)),
    isFiltering: all.length > 0 || requirements.length > 0 || (names ?? query.search) !== undefined,
    isIndexed: requirements.every(isIndexedRequirement),
    names: query.names,
    search: query.search?.toLowerCase(),
    matches: (object) =>
      (names?.has(object.metadata.name) ?? true) &&
      matchesSearch(object.metadata.name, query.search) &&
      matchesLabels(requirements, object.metadata.labels) &&
      matchesFields(kind, fields, object),
  }
}
