// The floor of a chat turn: a bare fastify route that asks the same model and makes one durable insert, nothing else.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'
import { Pool } from 'undici'

const database = new Database(join(mkdtempSync(join(tmpdir(), 'svc-floor-')), 'floor.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table turns(id integer primary key, question text not null, answer text not null)')
const insert = database.prepare('insert into turns(question, answer) values (?, ?)')

const pool = new Pool(process.argv[2] ?? '', { pipelining: 1 })
const app = fastify()
app.post('/turns', async (request) => {
  const { message } = request.body as { message: string }
  const body = JSON.stringify({ model: 'instant', stream: true, messages: [{ role: 'user', content: message }] })
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body })
  const text = await answer.body.text()
  insert.run(message, text)
  return { message: text }
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
