// The end of a request: its answer is out, or its caller left before it was. The framework tells only of the first.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Calls `listen` once for each request, whatever ended it. */
export function onAnswered(
  server: FastifyInstance,
  listen: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) listen(request, reply)
    })
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    if (reply.raw.writableFinished) listen(request, reply)
    done()
  })
}
