// Fills a data folder with chat sessions before a service starts on it.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { NewMessage } from '../src/ports/chat/sessions.ts'
import { createRecords } from '../src/store/records.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'

const large = { messages: 1000, characters: 430 }

function say(role: 'user' | 'assistant', length: number): NewMessage {
  return { role, content: 'x'.repeat(length) }
}

/** A data folder with `count` sessions of one turn each, and one called `large` of about 500 KB. */
export async function fillDataFolder(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-data-'))
  const database = openSqlite({ path: join(folder, 'svc.db') })
  const records = createRecords({ database, blobDir: folder, clock, ids })
  const append = async (name: string, messages: NewMessage[]) => {
    const key = { namespace: 'default', name }
    await records.sessions.ensure(key, { create: true, sessionType: 'chat' })
    await records.sessions.append(key, messages)
  }
  const turn = [say('user', 40), say('assistant', 200)]
  await Promise.all(Array.from({ length: count }, (_, index) => append(`stored-${index}`, turn)))
  const talk = Array.from({ length: large.messages }, (_, index) =>
    say(index % 2 === 0 ? 'user' : 'assistant', large.characters),
  )
  await append('large', talk)
  await records.close()
  await database.close()
  return folder
}
