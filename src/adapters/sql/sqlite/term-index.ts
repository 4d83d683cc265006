// Terms of memories in FTS5. It keeps no text: the terms that it is given are what it indexes, word for word.
import type { TermIndex } from '../database.ts'
import { sql } from '../statement.ts'

/** Quoted terms hold no operators, and searchTerms leaves no quote in a term. */
function anyOf(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(' OR ')
}

export const termIndex: TermIndex = {
  async add(tx, { number, terms }) {
    await tx.run(sql`insert into memory_terms (rowid, terms) values (${number}, ${terms.join(' ')})`)
  },
  async remove(tx, { number }) {
    await tx.run(sql`delete from memory_terms where rowid = ${number}`)
  },
  // Not by `rank`: FTS5 would keep and sort all that match, whatever the limit.
  find: (_namespace, terms, limit) => sql`select rowid as number, -bm25(memory_terms) as score from memory_terms
    where memory_terms match ${anyOf(terms)} order by score desc limit ${limit}`,
}
