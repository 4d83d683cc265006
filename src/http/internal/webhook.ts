// The webhook of the code host: no token, but a signature over the bytes of the body, which are read before they are parsed.
import type { FastifyRequest } from 'fastify'
import { receiveDelivery } from '../../contract/api/codehost/deliveries.ts'
import { workedEvents } from '../../contract/api/codehost/events.ts'
import type { RouteHeaders } from '../../contract/api/resources/route.ts'
import { type ErrorReason, errorStatus, isSvcError, SvcError } from '../../errors.ts'
import type { Received } from '../../usecases/index.ts'
import type { Bind } from '../bind.ts'
import type { HttpDeps } from '../deps.ts'
import type { AttemptGuard } from '../middleware/attempt-guard.ts'
import { readUpload } from '../upload.ts'

/** Of all bodies together whose senders are not known yet. */
const maxBufferedBytes = 67_108_864

type BodyBuffer = { read(request: FastifyRequest): Promise<Buffer> }

/** Reads bodies whole. Unavailable when too many are on their way. */
function createBodyBuffer(): BodyBuffer {
  let buffered = 0
  return {
    async read(request) {
      const chunks: Buffer[] = []
      let own = 0
      try {
        for await (const chunk of readUpload(request, receiveDelivery.bodyLimit).body as AsyncIterable<Buffer>) {
          own += chunk.length
          buffered += chunk.length
          if (buffered > maxBufferedBytes) {
            const message = 'too many deliveries at the same time; send it again later'
            throw new SvcError('Unavailable', message, { retryAfterSeconds: 5 })
          }
          chunks.push(chunk)
        }
        return Buffer.concat(chunks)
      } finally {
        buffered -= own
      }
    },
  }
}

type Headers = RouteHeaders<typeof receiveDelivery>

/** The code host's own spelling and the neutral one mean the same. */
function readHeader(headers: Headers, name: 'event' | 'delivery'): string | undefined {
  const [own, neutral] = [headers[`x-github-${name}`], headers[`x-codehost-${name}`]]
  if (own === undefined || neutral === undefined || own === neutral) return own ?? neutral
  throw new SvcError('InvalidRequest', `x-github-${name} and x-codehost-${name} differ; send one of them`)
}

const failures: Partial<Record<number, ErrorReason>> = {
  400: 'InvalidRequest',
  403: 'Forbidden',
  404: 'NotFound',
  413: 'TooLarge',
  503: 'Unavailable',
}

function answer({ delivery, outcome: { code = errorStatus.Internal, ...outcome } }: Received) {
  if (outcome.status === 'failed') throw new SvcError(failures[code] ?? 'Internal', outcome.message)
  const reason = outcome.status === 'ignored' ? { reason: outcome.message } : {}
  return { status: code === 201 ? 201 : 202, json: { delivery, ...outcome, ...reason } }
}

/** Never a text that the sender chose. */
function nameEvent(event: string | undefined): string {
  return [...workedEvents, 'ping'].find((known) => known === event) ?? 'other'
}

export function bindWebhook(bind: Bind, { usecases, metrics }: HttpDeps, guard: AttemptGuard): void {
  const { deliveries } = usecases
  const buffer = createBodyBuffer()

  async function receive(headers: Headers, request: FastifyRequest): Promise<Received> {
    const signature = headers['x-hub-signature-256']
    const reception = await deliveries.open(signature)
    const signed = { signature, contentType: request.headers['content-type'], body: await buffer.read(request) }
    const { clientAddress: address, id: requestId, socket: connection } = request
    const source = { address, requestId, connection, route: receiveDelivery.path }
    const read = () => ({ ...signed, event: readHeader(headers, 'event'), delivery: readHeader(headers, 'delivery') })
    const isOwn = () => reception.isSigned(signed)
    return guard(source, { token: signature ?? '', isOwn, check: async () => reception.receive(read()) })
  }

  bind(receiveDelivery, async ({ headers, request }) => {
    const event = nameEvent(headers['x-github-event'] ?? headers['x-codehost-event'])
    try {
      const received = await receive(headers, request)
      metrics.countDelivery({ event, result: received.outcome.status })
      return answer(received)
    } catch (error) {
      if (isSvcError(error, 'Unauthenticated')) metrics.countDelivery({ event, result: 'refused' })
      throw error
    }
  })
}
