// The floor of ai tasks of one call: a bare route that stores the task, asks the model, stores the end (two durable commits) and answers.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'

const [model = ''] = process.argv.slice(2)
const database = new Database(join(mkdtempSync(join(tmpdir(), 'svc-floor-')), 'floor.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table tasks(name text primary key, task text not null, result text) without rowid')
const insert = database.prepare('insert into tasks(name, task) values (?, ?)')
const end = database.prepare('update tasks set result = ? where name = ?')

async function ask(prompt: string): Promise<string> {
  const body = JSON.stringify({ model: 'instant', stream: true, messages: [{ role: 'user', content: prompt }] })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${model}/v1/chat/completions`, { method: 'POST', headers, body })
  const chunks = (await answer.text()).split('\n\n').filter((line) => line.startsWith('data: {'))
  return chunks.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '').join('')
}

const app = fastify()
app.post('/tasks', async (request, reply) => {
  const { name, prompt } = request.body as { name: string; prompt: string }
  insert.run(name, JSON.stringify(request.body))
  end.run(await ask(prompt), name)
  return reply.code(201).send({ name })
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
