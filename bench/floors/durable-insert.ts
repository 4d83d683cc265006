// The floor of creating: a bare fastify route that makes one durable insert per request (WAL, synchronous=FULL).
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'

const database = new Database(join(mkdtempSync(join(tmpdir(), 'svc-floor-')), 'floor.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table objects(name text primary key, object text not null) without rowid')
const insert = database.prepare('insert into objects(name, object) values (?, ?)')
const select = database.prepare('select object from objects where name = ?')
const page = database.prepare('select object from objects order by name limit 100')

const app = fastify()
app.post('/objects', (request, reply) => {
  const body = request.body as { name: string }
  insert.run(body.name, JSON.stringify(body))
  return reply.code(201).send(body)
})
app.get('/objects/:name', (request) => {
  const row = select.get((request.params as { name: string }).name) as { object: string }
  return JSON.parse(row.object)
})
app.get('/objects', () => ({ items: page.all().map((row) => JSON.parse((row as { object: string }).object)) }))
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
