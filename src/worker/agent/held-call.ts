// One call of an agent program at the service: made again while the service is away, and at most once more where it may have been
// paid (ADR 81).
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { getHealth } from '../../contract/api/service/health.ts'
import { reasonHeader } from '../../errors.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import { type Clock, type Ids, monotonicMs } from '../../lib/clock.ts'
import { isUnsent } from '../../lib/error-code.ts'

export type HeldCallOptions = {
  /** The service, such as `https://svc.svc-system:8080`. */
  url: string
  clock: Clock
  ids: Pick<Ids, 'random'>
  note(line: string): void
}

export type ProgramCall = {
  method: string | undefined
  path: string
  headers: IncomingMessage['headers']
  body: Buffer
}

type Outcome =
  /** By the service, or by a vendor through it. */
  | { is: 'answered'; answer: IncomingMessage }
  /** No vendor was asked. */
  | { is: 'away'; answer?: IncomingMessage }
  /** Whether a vendor was asked is not known: there was no answer, or that of a gateway. */
  | { is: 'lost'; answer?: IncomingMessage }

/** What became of a call in the end. */
export type HeldCall = Exclude<Outcome, { is: 'lost' }> | Lost

/** It may have been paid, so it is not made again though the service is there. `how`: it was lost each time. */
type Lost = Extract<Outcome, { is: 'lost' }> & { how: string }

/** How long a call is held; programs wait ten minutes for an answer, and some of them five. */
const graceMs = 240_000
const backoff: Backoff = { firstMs: 500, maxMs: 10_000 }
/** How often a call is sent that may be paid each time. */
const maxSent = 2
/** Of the service that stands on nothing, and of a gateway before it that reaches nobody or waits no longer. */
const awayStatuses = [502, 503, 504]

/** Connection headers are each side's own (RFC 9110, 7.6.1). */
function headersFor(target: URL, { headers, body }: ProgramCall): IncomingMessage['headers'] {
  const { connection: _, 'keep-alive': _kept, 'transfer-encoding': _coding, expect: _expect, ...rest } = headers
  return { ...rest, host: target.host, 'content-length': String(body.length) }
}

/** Resolves with the head of the answer. Rejects where none came. */
function dial(base: string, call: ProgramCall, signal: AbortSignal): Promise<IncomingMessage> {
  const target = new URL(base.replace(/\/$/, '') + call.path)
  const dialer = target.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = dialer(target, { method: call.method, headers: headersFor(target, call), signal }, resolve)
    sent.once('error', reject).end(call.body)
  })
}

/** The service says so itself before it asks a vendor; a gateway's word does not tell how far the call came. */
function judge(answer: IncomingMessage): Outcome {
  const { statusCode: status = 0, headers } = answer
  const { [reasonHeader]: reason } = headers
  if (!awayStatuses.includes(status)) return { is: 'answered', answer }
  if (reason === undefined) return { is: 'lost', answer }
  return { is: reason === 'Unavailable' ? 'away' : 'answered', answer }
}

function send(base: string, call: ProgramCall, signal: AbortSignal): Promise<Outcome> {
  return dial(base, call, signal).then(judge, (error: unknown) => ({ is: isUnsent(error) ? 'away' : 'lost' }))
}

const healthCheck: ProgramCall = { method: getHealth.method, path: getHealth.path, headers: {}, body: Buffer.alloc(0) }

/** Asked for nothing that costs. */
async function isThere(base: string, signal: AbortSignal): Promise<boolean> {
  const { is, answer } = await send(base, healthCheck, signal)
  answer?.resume()
  return is === 'answered'
}

function describeLoss(answer: IncomingMessage | undefined, ms: number): string {
  const what = answer === undefined ? 'the connection broke' : `a gateway answered ${answer.statusCode}`
  return `${what} after ${Math.round(ms / 1000)} s`
}

const isFree = ({ method }: ProgramCall) => method === 'GET' || method === 'HEAD'

/** A call that was lost waits until the service answers a question that costs nothing. */
async function attempt(
  call: ProgramCall,
  url: string,
  { losses, signal }: { losses: string[]; signal: AbortSignal },
): Promise<Outcome> {
  const mayAsk = losses.length === 0 || (await isThere(url, signal))
  const outcome: Outcome = mayAsk ? await send(url, call, signal) : { is: 'away' }
  signal.throwIfAborted()
  return outcome.is === 'lost' && isFree(call) ? { ...outcome, is: 'away' } : outcome
}

/** Who is given up while the service is away may come again. */
async function abandon(answer: IncomingMessage | undefined, losses: string[], isBack: () => Promise<boolean>) {
  const end = answer === undefined ? {} : { answer }
  const isLost = losses.length > 0 && (await isBack())
  return isLost ? { is: 'lost' as const, how: losses.join(', then '), ...end } : { is: 'away' as const, ...end }
}

/** Holds the call until it has an answer, the service has been away for minutes, or it was lost as often as it may be. */
export async function holdCall(call: ProgramCall, options: HeldCallOptions, signal: AbortSignal): Promise<HeldCall> {
  const { url, clock, ids, note } = options
  const deadline = monotonicMs(clock) + graceMs
  const losses: string[] = []
  for (let failures = 1; ; failures += 1) {
    const began = monotonicMs(clock)
    const outcome = await attempt(call, url, { losses, signal })
    if (outcome.is === 'answered') return outcome
    const now = monotonicMs(clock)
    if (outcome.is === 'lost') losses.push(describeLoss(outcome.answer, now - began))
    if (now >= deadline || losses.length === maxSent) return abandon(outcome.answer, losses, () => isThere(url, signal))
    outcome.answer?.resume()
    if (failures === 1) note('[the service is away: a call of the program waits for it]')
    await clock.sleep(delayMs(backoff, failures, ids.random()), signal)
  }
}
