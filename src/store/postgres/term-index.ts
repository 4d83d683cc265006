// Terms of memories in a table, one row for each term of a memory, and BM25 over them.
import { bm25, weighAlone } from '../../rules/memory/bm25.ts'
import type { TermIndex, Tx } from '../database/database.ts'
import { listSql, sql } from '../database/statement.ts'

const { saturation, lengthShare } = bm25

function countTerms(terms: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return Object.fromEntries(counts)
}

async function addToTotals(tx: Tx, namespace: string, change: { memories: number; terms: number }): Promise<void> {
  const { memories, terms } = change
  await tx.run(sql`insert into memory_totals (namespace, memories, terms) values (${namespace}, ${memories}, ${terms})
    on conflict (namespace) do update
    set memories = memory_totals.memories + ${memories}, terms = memory_totals.terms + ${terms}`)
}

export const termIndex: TermIndex = {
  async add(tx, { number, namespace, terms }) {
    await tx.run(sql`insert into memory_terms (namespace, term, memory, frequency, length)
      select ${namespace}, counted.key, cast(${number} as bigint), cast(counted.value as integer), cast(${terms.length} as integer)
      from json_each_text(cast(${JSON.stringify(countTerms(terms))} as json)) as counted`)
    await addToTotals(tx, namespace, { memories: 1, terms: terms.length })
  },
  async remove(tx, { number, namespace, terms }) {
    await tx.run(sql`delete from memory_terms where memory = ${number}`)
    await addToTotals(tx, namespace, { memories: -1, terms: -terms.length })
  },
  async find(reader, { namespace, terms, limit }) {
    const rows = await reader.all(sql<{ number: string; score: number }>`
    with hits as materialized (
      select term, memory, frequency, length from memory_terms
      where namespace = ${namespace} and term in (${listSql(terms)})
    ), totals as (
      select memories, cast(terms as double precision) / greatest(memories, 1) as average
      from memory_totals where namespace = ${namespace}
    ), weights as (
      select term, ln(1 + (greatest(max(memories), count(*)) - count(*) + 0.5) / (count(*) + 0.5)) as weight
      from hits, totals group by term
    )
    select memory as number, sum(cast(weight as double precision) * frequency * (${saturation + 1}::double precision)
      / (frequency + ${saturation}::double precision
        * (1 - ${lengthShare}::double precision + ${lengthShare}::double precision * length / greatest(average, 1)))) as score
    from hits join weights using (term), totals group by memory order by score desc limit ${limit}`)
    return rows.map(({ number, score }) => ({ number: Number(number), score }))
  },
  async weigh(reader, { namespace, terms }) {
    const totals = await reader.first(sql<{ memories: string }>`
      select memories from memory_totals where namespace = ${namespace}`)
    const rows = await reader.all(sql<{
      term: string
      having: string
    }>`select term, count(*) as having from memory_terms
      where namespace = ${namespace} and term in (${listSql([...terms])}) group by term`)
    const having = new Map(rows.map((row) => [row.term, Number(row.having)]))
    return new Map(terms.map((term) => [term, weighAlone(Number(totals?.memories ?? 0), having.get(term) ?? 0)]))
  },
}
