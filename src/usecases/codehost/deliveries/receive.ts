// Takes a delivery of the code host: checks its signature, stores it, and only then says so.
import { createHash } from 'node:crypto'
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import { SvcError } from '../../../errors.ts'
import { readWebhookSecrets } from '../../../lookup/service-secrets.ts'
import type { Delivery, DeliveryDraft } from '../../../ports/codehost/deliveries.ts'
import type { Ports } from '../../../ports/index.ts'
import {
  fileRepositoryName,
  isHandledEvent,
  isSignature,
  readEvent,
  readSummary,
  verifySignature,
} from '../../../rules/codehost/event.ts'
import { decideEvent } from '../../../rules/codehost/event-actions.ts'
import type { DeliveryProcessor } from './process.ts'
import type { WebhookSettings } from './settings.ts'

export type WebhookRequest = {
  event: string | undefined
  /** The id that the code host gave it; absent: the body itself is the id. */
  delivery: string | undefined
  signature: string | undefined
  contentType: string | undefined
  body: Buffer
}

export type Received = { delivery: string; outcome: DeliveryOutcome }

export type Receiving = {
  ports: Pick<Ports, 'records' | 'clock' | 'secrets'>
  settings: WebhookSettings
  processor: DeliveryProcessor
}

const accepted: DeliveryOutcome = { status: 'accepted', code: 202, message: 'stored; processing next' }
const idShape = /^[\x21-\x7e]{1,128}$/
const eventShape = /^[a-z0-9_]{1,64}$/

function refuseSignature(): SvcError {
  const message = 'invalid webhook signature: X-Hub-Signature-256 must be sha256= and the HMAC of the body'
  return new SvcError('Unauthenticated', `${message} with SVC_CODEHOST_WEBHOOK_SECRET`)
}

/** Unavailable without a secret. */
async function requireSecrets({ ports, settings }: Receiving): Promise<string[]> {
  const secrets = await readWebhookSecrets(ports.secrets, settings)
  if (secrets.length > 0) return secrets
  const { secretName, namespace } = settings
  const source = secretName === undefined ? '' : `, or the entry "secret" of Secret "${secretName}" in ${namespace},`
  const message = `the webhook has no secret: set SVC_CODEHOST_WEBHOOK_SECRET${source} to what the code host signs with`
  throw new SvcError('Unavailable', message)
}

const minuteLength = '2030-01-01T00:00'.length

/**
 * Somebody who wonders why nothing happens finds a wrong secret in the list of deliveries: one entry a minute, however many
 * requests there are.
 */
async function noteRefusal({ ports, settings }: Receiving): Promise<void> {
  const minute = ports.clock.now().toISOString().slice(0, minuteLength)
  const message =
    'requests of this minute had a wrong signature or none: compare the secret of the code host with SVC_CODEHOST_WEBHOOK_SECRET'
  const { namespace } = settings
  const outcome = { status: 'refused', code: 401, message } as const
  await ports.records.deliveries.accept({ id: `refused-${minute}Z`, namespace, event: '-', state: 'refused', outcome })
}

type Signed = Pick<WebhookRequest, 'body' | 'signature'>

/** A delivery whose body is still to be read. */
export type Reception = {
  isSigned(request: Signed): boolean
  /** Resolves once the delivery is stored. Unauthenticated; InvalidRequest. */
  receive(request: WebhookRequest): Promise<Received>
}

/** Unavailable without a secret, Unauthenticated for what cannot be a signature: before the body is read. */
export async function openReception(receiving: Receiving, signature: string | undefined): Promise<Reception> {
  const secrets = await requireSecrets(receiving)
  if (!isSignature(signature)) {
    await noteRefusal(receiving)
    throw refuseSignature()
  }
  const isSigned = (request: Signed) => verifySignature(request.body, request.signature, secrets)
  return {
    isSigned,
    async receive(request) {
      if (isSigned(request)) return receiveSigned(receiving, request)
      await noteRefusal(receiving)
      throw refuseSignature()
    },
  }
}

/** A code host sends the JSON as it is, or as the field `payload` of a form. */
function readPayload({ body, contentType = '' }: WebhookRequest): unknown {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType)
  const text = isForm ? (new URLSearchParams(body.toString('utf8')).get('payload') ?? '') : body.toString('utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SvcError('InvalidRequest', 'the body is not JSON; let the code host send application/json', {
      cause: error,
    })
  }
}

function readNames({ event, delivery, body }: WebhookRequest): { event: string; id: string } {
  if (event === undefined || !eventShape.test(event))
    throw new SvcError('InvalidRequest', 'X-GitHub-Event (or X-Codehost-Event) must be the name of an event')
  const id = delivery ?? `body-${createHash('sha256').update(body).digest('hex')}`
  if (!idShape.test(id))
    throw new SvcError('InvalidRequest', 'X-GitHub-Delivery must have at most 128 visible ASCII characters')
  return { event, id }
}

function ignore(message: string): Pick<DeliveryDraft, 'state' | 'outcome'> {
  return { state: 'ignored', outcome: { status: 'ignored', code: 202, message } }
}

function draftOf(request: WebhookRequest, { namespace, prefix }: WebhookSettings): DeliveryDraft {
  const { event, id } = readNames(request)
  const base = { id, namespace, event }
  if (!isHandledEvent(event))
    return { ...base, ...readSummary(tryPayload(request)), ...ignore(`event ${event} leads to nothing`) }
  const read = readEvent(event, readPayload(request))
  if ('problem' in read) throw new SvcError('InvalidRequest', read.problem)
  const decision = decideEvent(read, { prefix })
  if ('problem' in decision) throw new SvcError('InvalidRequest', decision.problem)
  const { action, sender, happenedAt, target, label } = read
  const shown = {
    ...base,
    action,
    repository: fileRepositoryName(read.repository.fullName),
    number: target?.number,
    sender,
    label: label?.toLowerCase(),
    happenedAt,
  }
  return 'ignored' in decision
    ? { ...shown, ...ignore(decision.ignored) }
    : { ...shown, facts: read, state: 'pending', outcome: accepted }
}

/** What is only shown of an event that leads to nothing need not be readable. */
function tryPayload(request: WebhookRequest): unknown {
  try {
    return readPayload(request)
  } catch {
    return undefined
  }
}

function answer({ id, outcome }: Delivery): Received {
  return { delivery: id, outcome }
}

/** One that failed for a reason that its receiver could remove is worth another try; all others have led to what they can. */
async function repeat({ ports, processor }: Receiving, found: Delivery): Promise<Received> {
  if (found.state !== 'failed')
    return answer({ ...found, outcome: { ...found.outcome, status: 'duplicate', code: 202 } })
  await ports.records.deliveries.reopen(found.id)
  return answer((await processor.process(found.id)) ?? found)
}

/** What became of it, or, when that takes longer than the code host waits, that it is stored. */
async function waitFor({ ports, settings, processor }: Receiving, delivery: Delivery): Promise<Received> {
  const answered = new AbortController()
  const worked = processor.process(delivery.id).then((done) => answer(done ?? delivery))
  worked.catch(() => undefined)
  const late = ports.clock.sleep(settings.replyTimeoutMs, answered.signal).then(
    () => answer(delivery),
    () => worked,
  )
  return Promise.race([worked, late]).finally(() => answered.abort())
}

/** Comments are answered on the code host itself, which takes its time. */
function isWaitedFor({ event }: Delivery): boolean {
  return event !== 'issue_comment'
}

/** InvalidRequest for a payload that cannot be read. Resolves once it is durable. */
async function receiveSigned(receiving: Receiving, request: WebhookRequest): Promise<Received> {
  const { ports, settings, processor } = receiving
  if (request.event === 'ping')
    return { delivery: request.delivery ?? '', outcome: { status: 'ok', code: 202, message: 'the webhook is set up' } }
  const { delivery, isNew } = await ports.records.deliveries.accept(draftOf(request, settings))
  if (!isNew) return repeat(receiving, delivery)
  if (delivery.state !== 'pending') return answer(delivery)
  if (isWaitedFor(delivery)) return waitFor(receiving, delivery)
  processor.process(delivery.id).catch(() => undefined)
  return answer(delivery)
}
