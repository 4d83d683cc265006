// The floor of a webhook: a bare fastify route that checks the HMAC of the body and makes one durable insert.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'

const secret = process.argv[2] ?? ''
const database = new Database(join(mkdtempSync(join(tmpdir(), 'svc-floor-')), 'floor.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table deliveries(id text primary key, body text not null) without rowid')
const insert = database.prepare('insert or ignore into deliveries(id, body) values (?, ?)')

const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post('/hook', (request, reply) => {
  const body = request.body as Buffer
  const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice('sha256='.length), 'hex')
  const expected = createHmac('sha256', secret).update(body).digest()
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return reply.code(401).send()
  insert.run(String(request.headers['x-github-delivery']), body.toString())
  return reply.code(202).send({ status: 'accepted' })
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
