// The fast path: one request piped to a provider of the caller's own family and its answer piped back, usage picked out on the way.
import { SvcError } from '../../errors.ts'
import type { TokenUsage } from '../../llm/messages.ts'
import type { PipeControl, PipeRequest, PipeSink } from '../../ports/egress.ts'
import type { Target } from './target.ts'
import { answerRefusal, defaultRetrySeconds, isTooMuch, readReason, readRetryMs } from './upstream-error.ts'
import { createAnswerScanner, createStreamScanner, type UsageScanner } from './usage-scanner.ts'

type HeaderMap = Record<string, string | string[] | undefined>

/** Where the answer goes: the edge's side of a request. */
export interface Outlet {
  /** Names and values in turn. */
  head(status: number, headers: string[]): void
  /** False: full; the edge calls `resume` when there is room. */
  write(chunk: Buffer): boolean
  end(): void
  /** An error in the family's form, or a broken connection when the head is out. */
  fail(error: SvcError): void
}

export type PassedCall = {
  status: number
  usage?: TokenUsage
  /** The vendor answered an error, or could not be reached. */
  failed: boolean
  /** The caller went away before the end. */
  aborted: boolean
  /** Milliseconds of `performance.now()`; absent: no byte came. */
  firstByteAt?: number
}

export type Passage = {
  target: Target
  request: PipeRequest
  outlet: Outlet
  now(): Date
  /** Told when the vendor wants to be left alone; `retryMs`: it said for how long. */
  onTooMuch(status: number, retryMs: number | undefined, reason: string): void
  /** Once, however it ended. */
  onDone(call: PassedCall): void
}

const maxErrorBytes = 65_536
/** A connection that the other side gave up just then says nothing of the request: it is sent once more. */
const maxTries = 2

/** Those that mean something to a client; everything else belongs to the connection or to the provider's account. */
const keptHeaders = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'request-id',
])
const keptPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-should-retry']
const accountHeaders = new Set(['anthropic-organization-id', 'openai-organization', 'openai-project'])

function isKept(name: string): boolean {
  if (keptHeaders.has(name)) return true
  return keptPrefixes.some((prefix) => name.startsWith(prefix)) && !accountHeaders.has(name)
}

/** What the caller may see of the provider's headers. */
export function keepHeaders(headers: HeaderMap): string[] {
  const kept: string[] = []
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (isKept(name)) kept.push(name, value)
    else if (name === 'x-request-id') kept.push('x-upstream-request-id', value)
  }
  return kept
}

function createScanner(headers: HeaderMap): UsageScanner | undefined {
  const type = headers['content-type']
  if (typeof type !== 'string') return undefined
  if (type.startsWith('text/event-stream')) return createStreamScanner()
  return type.startsWith('application/json') ? createAnswerScanner() : undefined
}

/** An error is read whole before the caller sees it: it may be about the provider's own credential. */
function createRefusal(passage: Passage, status: number, headers: HeaderMap) {
  const parts: Buffer[] = []
  let size = 0
  return {
    push(chunk: Buffer): void {
      if (size < maxErrorBytes) parts.push(chunk)
      size += chunk.length
    },
    answer(): void {
      const { target, outlet } = passage
      const body = Buffer.concat(parts)
      const now = passage.now()
      const answer = answerRefusal({ status, headers, body }, target, now)
      if (isTooMuch(status)) passage.onTooMuch(status, readRetryMs(headers, now), readReason(body))
      if ('error' in answer) {
        outlet.fail(answer.error)
        return
      }
      const kept = keepHeaders({ ...headers, 'content-length': String(answer.body.length) })
      const wantsRetry = isTooMuch(status) && headers['retry-after'] === undefined
      if (wantsRetry) kept.push('retry-after', String(defaultRetrySeconds))
      outlet.head(status, kept)
      outlet.write(answer.body)
      outlet.end()
    },
  }
}

export function startPassage(passage: Passage): PipeControl {
  const { target, request, outlet } = passage
  const done: PassedCall = { status: 0, failed: false, aborted: false }
  let scanner: UsageScanner | undefined
  let refusal: ReturnType<typeof createRefusal> | undefined
  let tries = 0
  let isOver = false
  let control: PipeControl

  function finish(): void {
    isOver = true
    const usage = scanner?.read()
    if (usage !== undefined) done.usage = usage
    passage.onDone(done)
  }

  const sink: PipeSink = {
    head(status, headers) {
      done.status = status
      done.firstByteAt = performance.now()
      if (status >= 300) {
        done.failed = true
        refusal = createRefusal(passage, status, headers)
        return
      }
      scanner = createScanner(headers)
      outlet.head(status, keepHeaders(headers))
    },
    data(chunk) {
      if (refusal !== undefined) {
        refusal.push(chunk)
        return true
      }
      scanner?.push(chunk)
      return outlet.write(chunk)
    },
    end() {
      if (refusal !== undefined) refusal.answer()
      else outlet.end()
      finish()
    },
    fail(error, retry) {
      if (retry && tries < maxTries) return send()
      done.failed = true
      outlet.fail(
        error.reason === 'Forbidden' ? new SvcError('UpstreamFailed', error.message, { cause: error }) : error,
      )
      finish()
    },
  }

  function send(): void {
    tries += 1
    control = target.pipe.send(request, sink)
  }

  send()
  return {
    abort() {
      if (isOver) return
      done.aborted = true
      control.abort()
      finish()
    },
    resume: () => control.resume(),
  }
}
