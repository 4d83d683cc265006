// The end of a request: its answer is sent, or its client disconnected first. The framework only reports the former.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Calls `listen` once for each request, however it ended. */
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
