// Terms of memories in FTS5, which keeps the lists of memories that have a term and no text; the score is computed here,
// because FTS5's own takes many times as long for words that thousands of memories have.
import { countHaving, createScorer, weighAlone } from '../../rules/memory/bm25.ts'
import type { TermIndex } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { createPostings } from './postings.ts'

export function createTermIndex(): TermIndex {
  const postings = createPostings()
  const score = createScorer()
  return {
    async add(tx, memory) {
      await tx.run(sql`insert into memory_terms (rowid, terms) values (${memory.number}, ${memory.terms.join(' ')})`)
      tx.afterCommit(() => postings.add(memory))
    },
    async remove(tx, memory) {
      await tx.run(sql`delete from memory_terms where rowid = ${memory.number}`)
      tx.afterCommit(() => postings.remove(memory))
    },
    async find(reader, { namespace, terms, limit }) {
      await postings.load(reader)
      const lists = await Promise.all(terms.map((term) => postings.of(reader, term)))
      const group = postings.find(namespace)
      return group === undefined ? [] : score(lists, { ...postings.known, ...group }, limit)
    },
    async weigh(reader, { namespace, terms }) {
      await postings.load(reader)
      const { group, texts } = postings.find(namespace) ?? { group: -1, texts: 0 }
      const weights = new Map<string, number>()
      for (const term of terms) {
        const having = countHaving(await postings.of(reader, term), postings.known.groups, group)
        weights.set(term, weighAlone(texts, having))
      }
      return weights
    },
  }
}
