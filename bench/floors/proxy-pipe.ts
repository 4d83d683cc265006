// The floor of proxying: a fastify route that gives the socket away, and an undici pool; bytes in, bytes out, nothing else.
import type { ServerResponse } from 'node:http'
import fastify from 'fastify'
import { type Dispatcher, Pool } from 'undici'

const pool = new Pool(process.argv[2] ?? '', { pipelining: 1 })
const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

function passTo(response: ServerResponse): Dispatcher.DispatchHandler {
  let control: Dispatcher.DispatchController | undefined
  response.on('drain', () => control?.resume())
  return {
    onRequestStart(controller) {
      control = controller
    },
    onResponseStart(_controller, status, headers) {
      const names = ['content-type', 'content-length'] as const
      response.writeHead(
        status,
        names.flatMap((name) => (typeof headers[name] === 'string' ? [name, headers[name]] : [])),
      )
    },
    onResponseData(controller, chunk) {
      if (!response.write(chunk)) controller.pause()
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => void response.destroy(),
  }
}

app.post('/*', (request, reply) => {
  reply.hijack()
  const headers = { 'content-type': 'application/json' }
  pool.dispatch({ method: 'POST', path: request.url, headers, body: request.body as Buffer }, passTo(reply.raw))
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ url })
process.on('disconnect', () => process.exit(0))
