// Finds candidates of a list in its order, in bounded batches, led by the most selective value that the filter asks for.
import type { Kind } from '../../contract/kinds/index.ts'
import type { Reader, Statement } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import type { ListOrder, Position } from '../watching/list-order.ts'
import type { IndexEntry } from '../watching/stored-object.ts'
import type { IndexCondition, ResourceFilter } from './filter.ts'

/** How many index rows are counted to compare two values; beyond this both are equally bad. */
const probeLimit = 1000

export type CandidateScope = {
  kind: Kind
  namespace: string | undefined
  /** Limits a list over all namespaces to these. */
  namespaces: readonly string[] | undefined
  filter: ResourceFilter
  order: ListOrder
}

/** What the filter's index conditions leave of an object: its JSON and version, or nulls where they do not hold. */
export type Candidate = Position & { text: string | null; version: number | null }

const nothing = sql``

// When a query plan depends on the value of a parameter, SQLite makes a new plan for each value
// (https://sqlite.org/queryplanner-ng.html#qpsg), which takes a third of the time of a page. A cast hides the value.
function castText(value: string): Fragment {
  return sql`cast(${value} as text)`
}

function limitNamespace({ namespace, namespaces }: CandidateScope): Fragment {
  if (namespace !== undefined) return sql` and k.namespace = ${castText(namespace)}`
  if (namespaces === undefined) return nothing
  return sql` and k.namespace in (${joinSql(namespaces.map(castText), ', ')})`
}

function limitNames({ filter: { names, search } }: CandidateScope): Fragment {
  const named = names === undefined ? nothing : sql` and k.name in (${joinSql(names.map(castText), ', ')})`
  return search === undefined ? named : sql`${named} and instr(k.name, ${castText(search)}) > 0`
}

function startAfter({ order, namespace }: CandidateScope, after: Position | undefined): Fragment {
  if (after === undefined) return nothing
  if (order === 'created') return sql` and created > ${castText(after.created)}`
  if (order === '-created') return sql` and created < ${castText(after.created)}`
  if (namespace !== undefined) return sql` and k.name > ${castText(after.name)}`
  return sql` and (k.namespace, k.name) > (${castText(after.namespace)}, ${castText(after.name)})`
}

const keyOrders: Record<ListOrder, Fragment> = {
  name: sql`k.namespace, k.name`,
  created: sql`created`,
  '-created': sql`created desc`,
}

const candidateOrders: Record<ListOrder, Fragment> = {
  name: sql`d.namespace, d.name`,
  created: sql`d.created`,
  '-created': sql`d.created desc`,
}

function matchEntry({ kind }: CandidateScope, { field, value }: IndexEntry): Fragment {
  return sql`k.kind = ${castText(kind)} and k.field = ${castText(field)} and k.value = ${castText(value)}`
}

async function countEntry(reader: Reader, scope: CandidateScope, entry: IndexEntry): Promise<number> {
  const row = await reader.first(
    sql<{ count: number }>`select count(*) as count from (select 1 from resource_index k
      where ${matchEntry(scope, entry)}${limitNamespace(scope)} limit cast(${probeLimit} as integer))`,
  )
  return row?.count ?? 0
}

/**
 * The equality that the fewest objects meet; undefined when the filter has none. The index is sorted by name: in any
 * other order all that it finds has to be sorted, so a value that many objects have is not used then.
 */
export async function chooseLeader(reader: Reader, scope: CandidateScope): Promise<IndexEntry | undefined> {
  const { equalities } = scope.filter
  const isByName = scope.order === 'name'
  if (isByName && equalities.length < 2) return equalities[0]
  let best: { entry: IndexEntry; count: number } | undefined
  for (const entry of equalities) {
    const count = await countEntry(reader, scope, entry)
    if (best === undefined || count < best.count) best = { entry, count }
  }
  return isByName || (best?.count ?? 0) < probeLimit ? best?.entry : undefined
}

function testCondition(kind: Kind, condition: IndexCondition): Fragment {
  const found = sql`exists (select 1 from resource_index i where i.kind = ${castText(kind)} and i.field = ${castText(condition.field)}
    and i.value in (${joinSql(condition.values.map(castText), ', ')}) and i.namespace = d.namespace and i.name = d.name)`
  return condition.isNegated ? sql`not ${found}` : found
}

function listTests(scope: CandidateScope, leader: IndexEntry | undefined): Fragment[] {
  const { equalities, conditions } = scope.filter
  const others = equalities
    .filter((entry) => entry !== leader)
    .map(({ field, value }) => ({ field, values: [value], isNegated: false }))
  return [...others, ...conditions].map((condition) => testCondition(scope.kind, condition))
}

/** Where the leading value's objects are found, with their creation times if the order needs them. */
function selectLed(scope: CandidateScope, leader: IndexEntry): Fragment {
  const where = matchEntry(scope, leader)
  if (scope.order === 'name') return sql`select k.namespace, k.name, '' as created from resource_index k where ${where}`
  return sql`select k.namespace, k.name, r.created from resource_index k
    join resources r on r.kind = k.kind and r.namespace = k.namespace and r.name = k.name where ${where}`
}

/** The next `size` candidates after the position, in order; fewer when there are no more. */
export function selectCandidates(
  scope: CandidateScope,
  { leader, after, size }: { leader: IndexEntry | undefined; after: Position | undefined; size: number },
): Statement<Candidate> {
  const { kind, order } = scope
  const range = sql`${limitNamespace(scope)}${limitNames(scope)}${startAfter(scope, after)}
    order by ${keyOrders[order]} limit cast(${size} as integer)`
  const tests = listTests(scope, leader)
  if (leader === undefined && tests.length === 0) {
    return sql<Candidate>`select k.namespace, k.name, k.created, k.object as text, k.resource_version as version
      from resources k where k.kind = ${castText(kind)}${range}`
  }
  const led =
    leader === undefined
      ? sql`select k.namespace, k.name, k.created from resources k where k.kind = ${castText(kind)}`
      : selectLed(scope, leader)
  const tested = joinSql([sql`r.kind = ${castText(kind)}`, ...tests], ' and ')
  return sql<Candidate>`select d.namespace, d.name, d.created, r.object as text, r.resource_version as version
    from (${led}${range}) d
    left join resources r on r.namespace = d.namespace and r.name = d.name and ${tested}
    order by ${candidateOrders[order]}`
}
