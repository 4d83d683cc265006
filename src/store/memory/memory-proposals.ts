// Memory proposals in SQL, each as JSON beside the columns that lists filter by.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type {
  Application,
  MemoryDraft,
  MemoryProposal,
  MemoryProposals,
  ProposalDraft,
  ProposalKey,
  ProposalQuery,
} from '../../ports/memory/memories.ts'
import { decideProposal, type ProposalStep, tagsOfDescription } from '../../rules/memory/proposal-decision.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { decodeText, encodeOptional, encodeText } from '../database/stored-text.ts'
import { findMemory, insertMemory, toMemory } from './memory-rows.ts'

type Row = { body: string }

/** JSON escapes NUL and lone surrogates by itself (ECMA-404). */
function toProposal({ body }: Row): MemoryProposal {
  return JSON.parse(body) as MemoryProposal
}

function matchKey({ namespace, id }: ProposalKey): Fragment {
  return sql`namespace = ${encodeText(namespace)} and id = ${encodeText(id)}`
}

/** What a query looks through; a text may not go over the end of one of them. */
function textOf({ title, description = '', content = '', skillName = '' }: ProposalDraft): string {
  return encodeText([title, description, content, skillName].join('\0').toLowerCase())
}

/** A pattern of LIKE for a part of a text, with `!` before what would stand for any. */
function likePart(text: string): string {
  return `%${encodeText(text.toLowerCase()).replace(/[!%_]/g, '!$&')}%`
}

function matchQuery({ namespace, taskName, agentName, type, status, query = '' }: ProposalQuery): Fragment {
  const conditions = [sql`namespace = ${encodeText(namespace)}`]
  if (taskName !== undefined) conditions.push(sql`task_name = ${encodeText(taskName)}`)
  if (agentName !== undefined) conditions.push(sql`agent_name = ${encodeText(agentName)}`)
  if (type !== undefined) conditions.push(sql`type = ${encodeText(type)}`)
  if (status !== undefined) conditions.push(sql`status = ${status}`)
  if (query.trim() !== '') conditions.push(sql`searched like ${likePart(query.trim())} escape '!'`)
  return joinSql(conditions, ' and ')
}

async function lockProposal(tx: Tx, key: ProposalKey): Promise<MemoryProposal> {
  const row = await tx.first(sql<Row>`update memory_proposals set id = id where ${matchKey(key)} returning body`)
  if (row !== undefined) return toProposal(row)
  throw new SvcError('NotFound', `memory proposal not found: "${key.id}" in namespace "${key.namespace}"`)
}

const stepsOfReview = { accepted: 'accept', rejected: 'reject', pending: 'reopen' } as const

/** The status that the step leads to; undefined when it is there already. */
function moveBy(step: ProposalStep, proposal: MemoryProposal): MemoryProposal['status'] | undefined {
  const decision = decideProposal(proposal, step)
  if (decision.action === 'none') return undefined
  if (decision.action === 'move') return decision.to
  throw new SvcError(decision.because === 'conflict' ? 'Conflict' : 'InvalidRequest', decision.message)
}

async function save(tx: Tx, proposal: MemoryProposal): Promise<MemoryProposal> {
  await tx.run(sql`update memory_proposals set status = ${proposal.status}, body = ${JSON.stringify(proposal)}
    where ${matchKey(proposal)}`)
  return proposal
}

function draftMemory(proposal: MemoryProposal, { memoryId, createdBy, content }: Application): MemoryDraft {
  const { namespace, agentName, taskName, description } = proposal
  const tags = tagsOfDescription(description)
  return {
    id: memoryId,
    namespace,
    agentName,
    taskName,
    source: 'memory_proposal',
    sourceProposalId: proposal.id,
    content: content ?? proposal.content ?? '',
    ...(tags.length > 0 && { tags }),
    disabled: false,
    createdBy,
  }
}

export function createMemoryProposals({ database, clock }: { database: Database; clock: Clock }): MemoryProposals {
  const readNow = () => clock.now().toISOString()

  async function applyTo(tx: Tx, key: ProposalKey, application: Application) {
    const proposal = await lockProposal(tx, key)
    const status = moveBy('apply', { ...proposal, content: application.content ?? proposal.content })
    if (status === undefined) {
      const made = await findMemory(tx, { namespace: key.namespace, id: proposal.appliedMemoryId ?? '' })
      if (made !== undefined) return toMemory(made)
      throw new SvcError('Internal', `the memory of proposal "${key.id}" is missing`)
    }
    const now = readNow()
    const memory = await insertMemory(tx, draftMemory(proposal, application), { dialect: database.dialect, now })
    const { appliedBy } = application
    await save(tx, { ...proposal, status, appliedMemoryId: memory.id, appliedBy, appliedAt: now, updatedAt: now })
    return memory
  }

  return {
    async create(draft) {
      const now = readNow()
      const proposal: MemoryProposal = { ...draft, status: 'pending', createdAt: now, updatedAt: now }
      const { changes } = await database.write((tx) =>
        tx.run(sql`insert into memory_proposals (namespace, id, task_name, agent_name, type, status, created_at, searched, body)
          values (${encodeText(draft.namespace)}, ${encodeText(draft.id)}, ${encodeOptional(draft.taskName)},
            ${encodeOptional(draft.agentName)}, ${encodeText(draft.type)}, 'pending', ${now}, ${textOf(draft)},
            ${JSON.stringify(proposal)})
          on conflict (namespace, id) do nothing`),
      )
      if (changes === 1) return proposal
      const message = `the memory proposal "${draft.id}" exists already: leave the id out to get a new one`
      throw new SvcError('AlreadyExists', message)
    },

    async get(key) {
      const row = await database.read.first(sql<Row>`select body from memory_proposals where ${matchKey(key)}`)
      return row === undefined ? undefined : toProposal(row)
    },

    async list(query) {
      const rows = await database.read.all(sql<Row>`select body from memory_proposals where ${matchQuery(query)}
        order by created_at desc, id desc limit ${query.limit}`)
      return rows.map(toProposal)
    },

    async countPending() {
      const rows = await database.read.all(sql<{ namespace: string; count: number }>`select namespace, count(*) as count
        from memory_proposals where status = 'pending' group by namespace`)
      return Object.fromEntries(rows.map(({ namespace, count }) => [decodeText(namespace), Number(count)]))
    },

    review: (key, note) =>
      database.write(async (tx) => {
        const proposal = await lockProposal(tx, key)
        const status = moveBy(stepsOfReview[note.status], proposal) ?? proposal.status
        const now = readNow()
        return save(tx, { ...proposal, ...note, status, reviewedAt: now, updatedAt: now })
      }),

    apply: (key, application) => database.write((tx) => applyTo(tx, key, application)),

    async archive(key) {
      await database.write(async (tx) => {
        const proposal = await lockProposal(tx, key)
        const status = moveBy('archive', proposal)
        if (status !== undefined) await save(tx, { ...proposal, status, updatedAt: readNow() })
      })
    },
  }
}
