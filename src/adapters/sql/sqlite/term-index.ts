// Terms of memories in FTS5. It keeps no text: the terms that it is given are what it indexes, word for word.
import type { Reader, TermIndex } from '../database.ts'
import { sql } from '../statement.ts'

/** A term of as many memories says little of any of them, and takes long to score in all. */
const manyMemories = 2000

/** Quoted terms hold no operators, and searchTerms leaves no quote in a term. */
function anyOf(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(' OR ')
}

async function isFrequent(reader: Reader, term: string): Promise<boolean> {
  const row = await reader.first(sql<{ count: number }>`select count(*) as count from (
    select 1 from memory_terms where memory_terms match ${anyOf([term])} limit ${manyMemories})`)
  return row?.count === manyMemories
}

// Not by `rank`: FTS5 would keep and sort all that match, whatever the limit.
const findBest = (match: string, limit: number) => sql`select rowid as number, -bm25(memory_terms) as score
  from memory_terms where memory_terms match ${match} order by score desc limit ${limit}`

export const termIndex: TermIndex = {
  async add(tx, { number, terms }) {
    await tx.run(sql`insert into memory_terms (rowid, terms) values (${number}, ${terms.join(' ')})`)
  },
  async remove(tx, { number }) {
    await tx.run(sql`delete from memory_terms where rowid = ${number}`)
  },
  async find(reader, { terms, limit, isThorough }) {
    const frequent: string[] = []
    if (!isThorough) for (const term of terms) if (await isFrequent(reader, term)) frequent.push(term)
    const rare = terms.filter((term) => !frequent.includes(term))
    if (frequent.length === 0 || rare.length === 0) return findBest(anyOf(terms), limit)
    // Two questions, because each term may stand in one only once: their scores are those of one question with all terms.
    const withBoth = findBest(`(${anyOf(rare)}) AND (${anyOf(frequent)})`, limit)
    const withRare = findBest(`(${anyOf(rare)}) NOT (${anyOf(frequent)})`, limit)
    return sql`select number, score from (${withBoth}) union all select number, score from (${withRare})`
  },
}
