// Rows of memories, their tags and their terms, and their conversion to and from the port's shape.
import { SvcError } from '../../errors.ts'
import type { Memory, MemoryDraft, MemoryKey } from '../../ports/memory/memories.ts'
import { searchTerms } from '../../rules/memory/search-terms.ts'
import type { Dialect, IndexedMemory, Reader, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { flag, generated, json, number, optional, type RecordOf, Table, text, word } from '../database/table.ts'

type Body = Pick<Memory, 'content' | 'tags' | 'supersedes' | 'createdBy'>

export const memoryTable = new Table('memories', {
  number: generated(number),
  namespace: text,
  id: text,
  sessionName: optional(text),
  agentName: optional(text),
  taskName: optional(text),
  parentTask: optional(text),
  source: text,
  sourceProposalId: optional(text),
  disabled: flag,
  deleted: flag,
  supersededBy: optional(text),
  createdAt: word,
  updatedAt: word,
  lastRecalledAt: optional(word),
  recalledCount: number,
  body: json<Body>(),
})
export type MemoryRow = RecordOf<typeof memoryTable>

export function toMemory({ number: _, body, ...memory }: MemoryRow): Memory {
  return { ...memory, ...body }
}

function bodyOf({ content, tags, supersedes, createdBy }: Body): Body {
  return { content, tags, supersedes, createdBy }
}

export function matchMemory({ namespace, id }: MemoryKey): Fragment {
  return sql`namespace = ${encodeText(namespace)} and id = ${encodeText(id)}`
}

export function findMemory(reader: Reader, key: MemoryKey): Promise<MemoryRow | undefined> {
  return memoryTable.first(reader, sql`where ${matchMemory(key)}`)
}

/** The row, locked to the end of the transaction. */
export function lockMemory(tx: Tx, key: MemoryKey): Promise<MemoryRow | undefined> {
  return memoryTable.returning(tx, sql`update memories set id = id where ${matchMemory(key)}`)
}

/** Its content and tags. */
export function textOfMemory({ content, tags = [] }: Body): string {
  return [content, ...tags].join('\n')
}

/** What searches know of a memory. */
function indexedOf({ number: memory, namespace, body }: MemoryRow): IndexedMemory & { tags: string[] } {
  const { content, tags = [] } = body
  const terms = [...searchTerms(content), ...tags.flatMap(searchTerms)]
  return { number: memory, namespace: encodeText(namespace), tags, terms }
}

async function index(tx: Tx, row: MemoryRow, { terms }: Dialect): Promise<void> {
  const { tags, ...memory } = indexedOf(row)
  for (const tag of tags) {
    await tx.run(sql`insert into memory_tags (tag, memory) values (${encodeText(tag)}, ${memory.number})`)
  }
  await terms.add(tx, memory)
  await tx.run(sql`insert into memory_unplaced (memory) values (${memory.number})`)
}

async function unindex(tx: Tx, row: MemoryRow, { terms }: Dialect): Promise<void> {
  const { tags: _tags, ...memory } = indexedOf(row)
  await tx.run(sql`delete from memory_tags where memory = ${memory.number}`)
  await terms.remove(tx, memory)
}

async function linkSuperseded(tx: Tx, draft: MemoryDraft, now: string): Promise<void> {
  const { namespace, supersedes } = draft
  if (supersedes === undefined) return
  const older = await lockMemory(tx, { namespace, id: supersedes })
  if (older === undefined) {
    const message = `names no memory of namespace "${namespace}"; leave it out, or name the memory to replace`
    const details = [{ path: 'supersedes', message }]
    throw new SvcError('InvalidRequest', `invalid memory: supersedes ${message}`, { details })
  }
  if (older.supersededBy !== undefined) {
    const newer = older.supersededBy
    throw new SvcError('Conflict', `the memory "${supersedes}" is superseded by "${newer}" already: supersede that one`)
  }
  await tx.run(sql`update memories set superseded_by = ${encodeText(draft.id)}, updated_at = ${now}
    where number = ${older.number}`)
}

/** AlreadyExists when the id is taken. */
export async function insertMemory(
  tx: Tx,
  draft: MemoryDraft,
  options: { dialect: Dialect; now: string },
): Promise<Memory> {
  const { dialect, now } = options
  await linkSuperseded(tx, draft, now)
  const state = { deleted: false, createdAt: now, updatedAt: now, recalledCount: 0 }
  const insert = memoryTable.insert({ ...draft, ...state, body: bodyOf(draft) })
  const row = await memoryTable.returning(tx, sql`${insert} on conflict (namespace, id) do nothing`)
  if (row === undefined) {
    const message = `the memory "${draft.id}" exists already: change it, or leave the id out to get a new one`
    throw new SvcError('AlreadyExists', message)
  }
  await index(tx, row, dialect)
  return toMemory(row)
}

/** Stores the memory as it is now; `row` is what it was, locked. */
export async function updateMemoryRow(
  tx: Tx,
  memory: Memory,
  options: { row: MemoryRow; dialect: Dialect },
): Promise<void> {
  const { row, dialect } = options
  const { sessionName, agentName, taskName, parentTask, source, disabled, deleted, updatedAt } = memory
  const body = bodyOf(memory)
  const change = { sessionName, agentName, taskName, parentTask, source, disabled, deleted, updatedAt, body }
  await tx.run(sql`update memories set ${memoryTable.set(change)} where number = ${row.number}`)
  if (JSON.stringify(body) === JSON.stringify(row.body)) return
  await unindex(tx, row, dialect)
  await index(tx, { ...row, body }, dialect)
}
