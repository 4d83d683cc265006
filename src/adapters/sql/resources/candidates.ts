// Finds candidates of a list in key order, in bounded batches, led by the most selective value that the filter asks for.
import type { Kind } from '../../../contract/resources/index.ts'
import type { ResourceKey } from '../../../ports/resources.ts'
import type { IndexEntry } from '../../resource-store/stored-object.ts'
import type { Reader, Statement } from '../database.ts'
import { type Fragment, joinSql, sql } from '../statement.ts'
import type { IndexCondition, ResourceFilter } from './filter.ts'

/** Index rows counted at most to compare two values: beyond it they are equally bad. */
const probeLimit = 1000

export type CandidateScope = { kind: Kind; namespace: string | undefined; filter: ResourceFilter }

/** What the filter's index conditions leave of an object: its JSON and version, or nulls where they do not hold. */
export type Candidate = ResourceKey & { text: string | null; version: number | null }

const nothing = sql``

// SQLite plans a statement anew for each value of a parameter that its plan looked at (as sqlite3_bind does with STAT4,
// https://sqlite.org/queryplanner-ng.html#qpsg), which takes a third of the time of a page. It does not look into a cast.
function castText(value: string): Fragment {
  return sql`cast(${value} as text)`
}

function limitNamespace(namespace: string | undefined): Fragment {
  return namespace === undefined ? nothing : sql` and namespace = ${castText(namespace)}`
}

function startAfter(scope: CandidateScope, after: ResourceKey | undefined): Fragment {
  if (after === undefined) return nothing
  if (scope.namespace !== undefined) return sql` and name > ${castText(after.name)}`
  return sql` and (namespace, name) > (${castText(after.namespace)}, ${castText(after.name)})`
}

async function countEntry(reader: Reader, scope: CandidateScope, entry: IndexEntry): Promise<number> {
  const row = await reader.first(
    sql<{ count: number }>`select count(*) as count from (select 1 from resource_index
      where kind = ${castText(scope.kind)} and field = ${castText(entry.field)} and value = ${castText(entry.value)}
      ${limitNamespace(scope.namespace)} limit cast(${probeLimit} as integer))`,
  )
  return row?.count ?? 0
}

/** The equality that the fewest objects meet; undefined when the filter has none. */
export async function chooseLeader(reader: Reader, scope: CandidateScope): Promise<IndexEntry | undefined> {
  const { equalities } = scope.filter
  if (equalities.length < 2) return equalities[0]
  let best: { entry: IndexEntry; count: number } | undefined
  for (const entry of equalities) {
    const count = await countEntry(reader, scope, entry)
    if (best === undefined || count < best.count) best = { entry, count }
  }
  return best?.entry
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

function selectRange(scope: CandidateScope, after: ResourceKey | undefined, size: number): Fragment {
  return sql`${limitNamespace(scope.namespace)}${startAfter(scope, after)} order by namespace, name limit cast(${size} as integer)`
}

/** The next `size` candidates after the key, in key order; fewer when there are no more. */
export function selectCandidates(
  scope: CandidateScope,
  { leader, after, size }: { leader: IndexEntry | undefined; after: ResourceKey | undefined; size: number },
): Statement<Candidate> {
  const range = selectRange(scope, after, size)
  const tests = listTests(scope, leader)
  if (leader === undefined && tests.length === 0) {
    return sql<Candidate>`select namespace, name, object as text, resource_version as version
      from resources where kind = ${castText(scope.kind)}${range}`
  }
  const keys =
    leader === undefined
      ? sql`select namespace, name from resources where kind = ${castText(scope.kind)}${range}`
      : sql`select namespace, name from resource_index
          where kind = ${castText(scope.kind)} and field = ${castText(leader.field)} and value = ${castText(leader.value)}${range}`
  const tested = joinSql([sql`r.kind = ${castText(scope.kind)}`, ...tests], ' and ')
  return sql<Candidate>`select d.namespace, d.name, r.object as text, r.resource_version as version from (${keys}) d
    left join resources r on r.namespace = d.namespace and r.name = d.name and ${tested}
    order by d.namespace, d.name`
}
