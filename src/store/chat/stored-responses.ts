// Answers of the responses API in SQL: one row each, with what its request added.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import type { ResponseOwner, StoredResponse, StoredResponses } from '../../ports/chat/stored-responses.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { escapedJson, number, optional, type RecordOf, Table, text, word } from '../database/table.ts'

/** What a small one counts as, so that there are never more than 1024. */
const minCounted = 65_536
const maxBytes = 67_108_864
/** Of one, and of all that a request goes on from: reading more would hold everybody up, and many at once would fill the memory. */
const maxResponseBytes = 16_777_216
/** Conversations with more turns are too long for any model. */
const maxThread = 1000

const responses = new Table('stored_responses', {
  id: text,
  namespace: text,
  caller: text,
  previous: optional(text),
  provider: optional(text),
  model: optional(text),
  createdAt: word,
  bytes: number,
  input: escapedJson<JsonObject[]>(),
  response: escapedJson<StoredResponse['response']>(),
})

function matchOwner({ namespace, caller }: ResponseOwner): Fragment {
  return responses.match({ namespace, caller })
}

/** Sums from the newest on; what is beyond the bound goes. */
async function makeRoom(tx: Tx, owner: ResponseOwner): Promise<void> {
  await tx.run(sql`delete from stored_responses where ${matchOwner(owner)} and id in (
    select id from (select id, sum(bytes) over (order by created_at desc, id desc rows unbounded preceding) as total
      from stored_responses where ${matchOwner(owner)}) as counted
    where total > ${maxBytes})`)
}

function selectThread(owner: ResponseOwner, id: string): Fragment {
  return sql`where ${matchOwner(owner)} and id in (
    with recursive thread (id, previous, turn) as (
      select id, previous, 1 from stored_responses where id = ${encodeText(id)} and ${matchOwner(owner)}
      union all
      select stored.id, stored.previous, turn + 1 from stored_responses as stored join thread on stored.id = thread.previous
      where turn < ${maxThread})
    select id from thread)`
}

/** From the oldest to the response itself; undefined when the chain is broken. */
function orderThread(found: RecordOf<typeof responses>[], id: string): RecordOf<typeof responses>[] | undefined {
  const byId = new Map(found.map((each) => [each.id, each]))
  const thread: RecordOf<typeof responses>[] = []
  for (let next: string | undefined = id; next !== undefined; next = thread[0]?.previous) {
    const response = byId.get(next)
    if (response === undefined || !byId.delete(next)) return undefined
    thread.unshift(response)
  }
  return thread
}

function describe({ id, input, response, ...more }: RecordOf<typeof responses>): StoredResponse {
  const { previous, provider, model } = more
  return { id, ...dropUndefined({ previous, provider, model }), input, response }
}

export function createStoredResponses({ database, clock }: { database: Database; clock: Clock }): StoredResponses {
  async function readShort(where: Fragment): Promise<RecordOf<typeof responses>[]> {
    const measured = await database.read.first(
      sql<{
        total: number | null
      }>`select sum(length(input) + length(response)) as total from stored_responses ${where}`,
    )
    const total = Number(measured?.total ?? 0)
    if (total <= maxResponseBytes) return responses.all(database.read, where)
    const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`
    const limit = `more than the ${mebibytes(maxResponseBytes)} that it may have`
    throw new SvcError(
      'TooLarge',
      `what the request goes on from has ${mebibytes(total)}, ${limit}; send what matters of it as input`,
    )
  }

  return {
    async keep(owner, stored) {
      const bytes = Buffer.byteLength(JSON.stringify([stored.input, stored.response]))
      if (bytes > maxResponseBytes) return false
      const counted = { bytes: Math.max(bytes, minCounted), createdAt: clock.now().toISOString() }
      const insert = responses.insert({ ...owner, ...stored, ...counted })
      await database.write(async (tx) => {
        await tx.run(insert)
        await makeRoom(tx, owner)
      })
      return true
    },

    async find(owner, ids) {
      const where = sql`where ${matchOwner(owner)} and ${responses.oneOf('id', ids)}`
      return (await readShort(where)).map(describe)
    },

    async thread(owner, id) {
      return orderThread(await readShort(selectThread(owner, id)), id)?.map(describe)
    },

    async remove(owner, id) {
      const removal = sql`delete from stored_responses where ${matchOwner(owner)} and id = ${encodeText(id)}`
      return (await database.write((tx) => tx.run(removal))).changes > 0
    },

    async sweep(before) {
      const removal = sql`delete from stored_responses where created_at < ${before.toISOString()}`
      return (await database.write((tx) => tx.run(removal))).changes
    },
  }
}
