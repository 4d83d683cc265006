// Versions of agents, in SQL.
import {
  type AgentVersion,
  type AgentVersionContent,
  agentVersionLimits as limits,
} from '../../contract/api/agents/agents.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AgentKey, AgentVersions } from '../../ports/resources/records.ts'
import { digestContent, findVersionStart, isVersionDue } from '../../rules/agents/versions.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { json, number, Table, text, word } from '../database/table.ts'

const key = { namespace: text, name: text, uid: word }
const keys = new Table('agent_versions', key)
const marks = new Table('agent_versions', { number, generation: number, digest: word, since: word })
const versions = new Table('agent_versions', {
  ...key,
  number,
  generation: number,
  digest: word,
  since: word,
  content: json<AgentVersionContent>(),
})

const matchAgent = ({ namespace, name, uid }: Partial<AgentKey>) => versions.match({ namespace, name, uid })

type Seen = { agent: Agent; content: AgentVersionContent; digest: string; now: Date }

/** Where another replica has just written the number, what it wrote is the newest now. */
async function add(tx: Tx, seen: Seen): Promise<number | undefined> {
  const { agent, content, digest, now } = seen
  const { namespace, name, uid, generation } = agent.metadata
  const newest = await marks.first(tx, sql`where ${matchAgent(agent.metadata)} order by number desc limit 1`)
  if (!isVersionDue(newest, { digest, generation }, now)) return undefined
  const next = (newest?.number ?? 0) + 1
  const since = findVersionStart(agent, next, now)
  const row = { namespace, name, uid, number: next, generation, digest, since, content }
  const { changes } = await tx.run(sql`${versions.insert(row)} on conflict do nothing`)
  return changes === 1 ? next : add(tx, seen)
}

/** Those that may not be kept, except the newest. */
async function dropOldest(tx: Tx, agent: AgentKey, newest: number): Promise<void> {
  await tx.run(sql`delete from agent_versions where ${matchAgent(agent)} and number < ${newest} and (
    number <= ${newest - limits.versions} or number <= coalesce((select max(number) from (
      select number, sum(octet_length(content)) over (order by number desc) as total
      from agent_versions where ${matchAgent(agent)}
    ) as sizes where total > ${limits.bytes}), 0))`)
}

export function createAgentVersions({ database, clock }: { database: Database; clock: Clock }): AgentVersions {
  return {
    async note(agent, content) {
      const seen = { agent, content, digest: digestContent(content), now: clock.now() }
      return database.write(async (tx) => {
        const added = await add(tx, seen)
        if (added !== undefined) await dropOldest(tx, agent.metadata, added)
        return added !== undefined
      })
    },
    async list(agent, { limit, before }) {
      const below = before === undefined ? sql`` : sql` and number < ${before}`
      const page = sql`where ${matchAgent(agent)}${below} order by number desc limit ${limit}`
      const rows = await versions.all(database.read, page)
      return rows.map(({ number: one, since, generation, content }): AgentVersion => {
        return { number: one, since, generation, content }
      })
    },
    agents: () => keys.all(database.read, sql`group by ${keys.columns} order by ${keys.columns}`),
    async remove(agent) {
      await database.write((tx) => tx.run(sql`delete from agent_versions where ${matchAgent(agent)}`))
    },
  }
}
