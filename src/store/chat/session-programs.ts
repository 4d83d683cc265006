// What agent programs keep of sessions, in SQL: the newest of each session.
import { SvcError } from '../../errors.ts'
import type { SessionKey, Sessions, StoredProgramSession } from '../../ports/chat/sessions.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { lockRow, matchKey } from './session-rows.ts'

type ProgramRow = { id: string; body: string }

async function replaceProgram(
  tx: Tx,
  key: SessionKey,
  { session, holder, more }: { session: StoredProgramSession; holder: string; more: number },
): Promise<void> {
  const row = await lockRow(tx, key)
  if (row?.active_task !== encodeText(holder))
    throw new SvcError('Conflict', `session ${key.name} is not in use by ${holder}`)
  const { program, id, text } = session
  await tx.run(sql`delete from session_programs where ${matchKey(key)}`)
  await tx.run(sql`insert into session_programs (namespace, name, program, id, body, message_count)
    values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${encodeText(program)}, ${encodeText(id)},
      ${encodeText(text)}, ${Number(row.message_count) + more})`)
}

export function createProgramSessions({
  database,
}: {
  database: Database
}): Pick<Sessions, 'keepProgram' | 'findProgram'> {
  return {
    keepProgram: (key, session, by) => database.write((tx) => replaceProgram(tx, key, { session, ...by })),

    async findProgram(key, program) {
      const { namespace, name } = key
      const row = await database.read.first(sql<ProgramRow>`select id, body from session_programs
        where ${matchKey(key)} and program = ${encodeText(program)} and message_count =
          (select message_count from sessions
            where namespace = ${encodeText(namespace)} and name = ${encodeText(name)})`)
      return row && { program, id: decodeText(row.id), text: decodeText(row.body) }
    },
  }
}
