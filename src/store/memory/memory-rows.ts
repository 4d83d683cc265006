// Rows of memories, their tags and their terms, and their conversion to and from the port's shape.
import { SvcError } from '../../errors.ts'
import type { Memory, MemoryDraft, MemoryKey } from '../../ports/memory/memories.ts'
import { searchTerms } from '../../rules/memory/search-terms.ts'
import type { Dialect, IndexedMemory, Reader, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeOptional, encodeText } from '../database/stored-text.ts'

export type MemoryRow = {
  number: number
  namespace: string
  id: string
  session_name: string | null
  agent_name: string | null
  task_name: string | null
  parent_task: string | null
  source: string
  source_proposal_id: string | null
  disabled: number
  deleted: number
  superseded_by: string | null
  created_at: string
  updated_at: string
  last_recalled_at: string | null
  recalled_count: number
  body: string
}

type Body = Pick<Memory, 'content' | 'tags' | 'supersedes' | 'createdBy'>

export function toMemory(row: MemoryRow): Memory {
  const { content, tags, supersedes, createdBy } = JSON.parse(row.body) as Body
  return {
    id: decodeText(row.id),
    namespace: decodeText(row.namespace),
    sessionName: decodeOptional(row.session_name),
    agentName: decodeOptional(row.agent_name),
    taskName: decodeOptional(row.task_name),
    parentTask: decodeOptional(row.parent_task),
    source: decodeText(row.source),
    sourceProposalId: decodeOptional(row.source_proposal_id),
    content,
    tags,
    disabled: row.disabled === 1,
    deleted: row.deleted === 1,
    supersedes,
    supersededBy: decodeOptional(row.superseded_by),
    createdBy,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastRecalledAt: row.last_recalled_at ?? undefined,
    recalledCount: Number(row.recalled_count),
  }
}

/** JSON escapes NUL and lone surrogates by itself (ECMA-404). */
function encodeBody({ content, tags, supersedes, createdBy }: Body): string {
  return JSON.stringify({ content, tags, supersedes, createdBy })
}

export function matchMemory({ namespace, id }: MemoryKey): Fragment {
  return sql`namespace = ${encodeText(namespace)} and id = ${encodeText(id)}`
}

export function findMemory(reader: Reader, key: MemoryKey): Promise<MemoryRow | undefined> {
  return reader.first(sql<MemoryRow>`select * from memories where ${matchMemory(key)}`)
}

/** The row, locked to the end of the transaction. */
export function lockMemory(tx: Tx, key: MemoryKey): Promise<MemoryRow | undefined> {
  return tx.first(sql<MemoryRow>`update memories set id = id where ${matchMemory(key)} returning *`)
}

/** Its content and tags. */
export function textOfMemory({ body }: Pick<MemoryRow, 'body'>): string {
  const { content, tags = [] } = JSON.parse(body) as Body
  return [content, ...tags].join('\n')
}

/** What searches know of a memory. */
function indexedOf({ number, namespace, body }: MemoryRow): IndexedMemory & { tags: string[] } {
  const { content, tags = [] } = JSON.parse(body) as Body
  return { number: Number(number), namespace, tags, terms: [...searchTerms(content), ...tags.flatMap(searchTerms)] }
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
  if (older.superseded_by !== null) {
    const newer = decodeText(older.superseded_by)
    throw new SvcError('Conflict', `the memory "${supersedes}" is superseded by "${newer}" already: supersede that one`)
  }
  await tx.run(sql`update memories set superseded_by = ${encodeText(draft.id)}, updated_at = ${now}
    where number = ${older.number}`)
}

/** AlreadyExists when the id is taken. */
export async function insertMemory(
  tx: Tx,
  draft: MemoryDraft,
  given: { dialect: Dialect; now: string },
): Promise<Memory> {
  const { dialect, now } = given
  await linkSuperseded(tx, draft, now)
  const row = await tx.first(sql<MemoryRow>`insert into memories (namespace, id, session_name, agent_name, task_name,
      parent_task, source, source_proposal_id, disabled, deleted, created_at, updated_at, recalled_count, body)
    values (${encodeText(draft.namespace)}, ${encodeText(draft.id)}, ${encodeOptional(draft.sessionName)},
      ${encodeOptional(draft.agentName)}, ${encodeOptional(draft.taskName)}, ${encodeOptional(draft.parentTask)},
      ${encodeText(draft.source)}, ${encodeOptional(draft.sourceProposalId)}, ${draft.disabled ? 1 : 0}, 0, ${now}, ${now},
      0, ${encodeBody(draft)})
    on conflict (namespace, id) do nothing returning *`)
  if (row === undefined) {
    const message = `the memory "${draft.id}" exists already: change it, or leave the id out to get a new one`
    throw new SvcError('AlreadyExists', message)
  }
  await index(tx, row, dialect)
  return toMemory(row)
}

/** Stores the memory as it is now; `row` is what it was, locked. */
export async function updateMemory(tx: Tx, memory: Memory, given: { row: MemoryRow; dialect: Dialect }): Promise<void> {
  const { row, dialect } = given
  const number = Number(row.number)
  const body = encodeBody(memory)
  await tx.run(sql`update memories set session_name = ${encodeOptional(memory.sessionName)},
      agent_name = ${encodeOptional(memory.agentName)}, task_name = ${encodeOptional(memory.taskName)},
      parent_task = ${encodeOptional(memory.parentTask)}, source = ${encodeText(memory.source)},
      disabled = ${memory.disabled ? 1 : 0}, deleted = ${memory.deleted ? 1 : 0}, updated_at = ${memory.updatedAt},
      body = ${body}
    where number = ${number}`)
  if (body === row.body) return
  await unindex(tx, row, dialect)
  await index(tx, { ...row, body }, dialect)
}
