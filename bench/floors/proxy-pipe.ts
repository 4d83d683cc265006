// The floor of proxying: a bare fastify route and an undici pool, bytes in and bytes out, nothing else.
import fastify from 'fastify'
import { Pool } from 'undici'

const pool = new Pool(process.argv[2] ?? '', { pipelining: 1 })
const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post('/*', async (request, reply) => {
  const answer = await pool.request({
    method: 'POST',
    path: request.url,
    headers: { 'content-type': 'application/json' },
    body: request.body as Buffer,
  })
  const type = answer.headers['content-type']
  const length = answer.headers['content-length']
  reply.code(answer.statusCode)
  if (type !== undefined) reply.header('content-type', type)
  if (length !== undefined) reply.header('content-length', length)
  return reply.send(answer.body)
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
