// Terms of memories in FTS5, which keeps the lists of memories that have a term and no text; the score is computed here,
// because FTS5's own takes many times as long for words that thousands of memories have. Lists are read once and then kept up
// to date: only the process that holds the data folder writes the file, so that what it commits is all that changes.
import {
  countHaving,
  createScorer,
  type Group,
  type Postings,
  type TextLengths,
  weighAlone,
} from '../../rules/memory/bm25.ts'
import { countTerms } from '../../rules/memory/relevance.ts'
import type { IndexedMemory, Reader, TermIndex } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** How many entries of all lists are kept, 5 bytes each; the lists that were asked for least recently go first. */
const maxEntries = 8_000_000
/** Memories whose lengths are read at once, so that the first search after a start delays nobody. */
const readAtOnce = 4096
const highestCount = 255

function grow<T extends Uint32Array | Uint8Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2, 1024))
  larger.set(array)
  return larger
}

function append(list: Postings, number: number, count: number): void {
  list.texts = grow(list.texts, list.size + 1)
  list.counts = grow(list.counts, list.size + 1)
  list.texts[list.size] = number
  list.counts[list.size] = Math.min(count, highestCount)
  list.size += 1
}

function drop(list: Postings, number: number): void {
  const at = list.texts.subarray(0, list.size).indexOf(number)
  if (at < 0) return
  list.size -= 1
  list.texts[at] = list.texts[list.size] ?? 0
  list.counts[at] = list.counts[list.size] ?? 0
}

/** FTS5 gives a row for each position of the term, those of one memory together. */
function gather(rows: readonly { doc: number }[]): Postings {
  const list: Postings = { texts: new Uint32Array(0), counts: new Uint8Array(0), size: 0 }
  for (let at = 0; at < rows.length; ) {
    const number = rows[at]?.doc ?? 0
    const from = at
    while (at < rows.length && rows[at]?.doc === number) at += 1
    append(list, number, at - from)
  }
  return list
}

/** SQLite's variable-length integer, which is how FTS5 stores lengths. */
function readVarint(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) {
    value = value * 128 + (byte & 127)
    if (byte < 128) break
  }
  return value
}

/** Lengths and namespaces of all memories. Groups are numbered from 1; 0 is a memory that is not known. */
function createLengths() {
  const known: TextLengths = { lengths: new Uint32Array(0), groups: new Uint32Array(0) }
  const groups = new Map<string, Group>()
  let loading: Promise<void> | undefined

  function groupOf(namespace: string): Group {
    const found = groups.get(namespace) ?? { group: groups.size + 1, texts: 0, terms: 0 }
    groups.set(namespace, found)
    return found
  }

  function set(number: number, namespace: string, length: number): void {
    known.lengths = grow(known.lengths, number + 1)
    known.groups = grow(known.groups, number + 1)
    if (known.groups[number] !== 0) return
    const group = groupOf(namespace)
    known.lengths[number] = length
    known.groups[number] = group.group
    group.texts += 1
    group.terms += length
  }

  function unset(number: number, namespace: string): void {
    if (!known.groups[number]) return
    const group = groupOf(namespace)
    group.texts -= 1
    group.terms -= known.lengths[number] ?? 0
    known.groups[number] = 0
  }

  async function readAll(reader: Reader): Promise<void> {
    for (let last = 0; ; ) {
      const rows = await reader.all(sql<{ number: number; namespace: string; sz: Uint8Array }>`
        select number, namespace, sz from memories join memory_terms_docsize on memory_terms_docsize.id = number
        where number > ${last} order by number limit ${readAtOnce}`)
      for (const { number, namespace, sz } of rows) set(number, namespace, readVarint(sz))
      if (rows.length < readAtOnce) return
      last = rows.at(-1)?.number ?? last
      await new Promise((resolve) => void setImmediate(resolve))
    }
  }

  return {
    set,
    unset,
    known,
    find: (namespace: string) => groups.get(namespace),
    /** What was committed before the first call is known once it resolves. */
    load(reader: Reader): Promise<void> {
      loading ??= readAll(reader).catch((error: unknown) => {
        loading = undefined
        throw error
      })
      return loading
    },
  }
}

function createPostings() {
  const lengths = createLengths()
  const lists = new Map<string, Postings>()
  let entries = 0
  let commits = 0

  function keep(term: string, list: Postings): Postings {
    lists.set(term, list)
    entries += list.size
    for (const [oldest, { size }] of lists) {
      if (entries <= maxEntries || oldest === term) break
      lists.delete(oldest)
      entries -= size
    }
    return list
  }

  async function read(reader: Reader, term: string): Promise<Postings> {
    for (;;) {
      const before = commits
      const rows = await reader.all(sql<{ doc: number }>`select doc from memory_postings where term = ${term}`)
      const found = lists.get(term)
      if (found !== undefined) return found
      // Else something was committed between the reading and now.
      if (before === commits) return keep(term, gather(rows))
    }
  }

  return {
    /** Called right after each commit. */
    add({ number, namespace, terms }: IndexedMemory): void {
      commits += 1
      lengths.set(number, namespace, terms.length)
      for (const [term, count] of countTerms(terms)) {
        const list = lists.get(term)
        if (list === undefined) continue
        append(list, number, count)
        entries += 1
      }
    },
    remove({ number, namespace, terms }: IndexedMemory): void {
      commits += 1
      lengths.unset(number, namespace)
      for (const term of new Set(terms)) {
        const list = lists.get(term)
        if (list === undefined) continue
        drop(list, number)
        entries -= 1
      }
    },
    async of(reader: Reader, term: string): Promise<Postings> {
      const found = lists.get(term)
      if (found === undefined) return read(reader, term)
      // The last asked for is the last in the map.
      lists.delete(term)
      lists.set(term, found)
      return found
    },
    load: lengths.load,
    known: lengths.known,
    find: lengths.find,
  }
}

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
