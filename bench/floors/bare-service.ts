// The floor of starting: the same parts (fastify, zod, better-sqlite3), one route, nothing else.
import Database from 'better-sqlite3'
import fastify from 'fastify'
import { z } from 'zod'

const body = z.strictObject({ name: z.string() })
const database = new Database(':memory:')
database.exec('create table objects(name text primary key)')
const app = fastify()
app.post('/objects', (request) => body.parse(request.body))
app.get('/readyz', () => ({ status: 'ok' }))
const url = await app.listen({ port: 0, host: '127.0.0.1' })
await fetch(`${url}/readyz`)
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
