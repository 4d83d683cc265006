// What each answer of a vendor means: the same by bytes passed on, in the tool loop, in chat and in a task.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallFailure, failures, ruleOfCall } from '../../src/contract/kinds/tasks/failures.ts'
import { errorStatus } from '../../src/errors.ts'
import { type PlayedTasks, runPlayedTask, startPlayedTasks } from '../fixtures/proxy/played-task.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { passBytes, runLoop, runTurn } from '../fixtures/proxy/ways.ts'
import { waitFor } from '../fixtures/time.ts'
import type { WorkerService } from '../scenarios/worker-service.ts'

let proxied: Proxied
let workers: WorkerService
let played: PlayedTasks
/** Where no call may lead. */
let inner: Server
let innerCalls = 0

type Answer = (received: Received) => void

const errorOf = (type: string, message: string) => ({ type: 'error', error: { type, message } })
const refuse = (status: number, type: string, message = 'no', headers: Record<string, string> = {}): Answer =>
  answerJson(errorOf(type, message), status, headers)
const redirect = (status: number): Answer => {
  return (received) => {
    const location = `http://127.0.0.1:${(inner.address() as AddressInfo).port}/secret`
    answerJson({}, status, { location })(received)
  }
}
/** More than anybody waits for: chat and tasks try again what may soon be better. */
const later = { 'retry-after': '120' }

type Case = [name: string, reason: CallFailure, answer: Answer]

const cases: Case[] = [
  ['401', 'CredentialRefused', refuse(401, 'authentication_error')],
  ['402', 'CreditUsedUp', refuse(402, 'billing_error')],
  ['403', 'CredentialRefused', refuse(403, 'permission_error')],
  ['404-model', 'ModelNotFound', refuse(404, 'not_found_error', 'model: m')],
  ['404-page', 'WrongAddress', ({ response }) => void response.writeHead(404).end('<h1>nothing here</h1>')],
  ['400', 'RequestRefused', refuse(400, 'invalid_request_error', 'temperature: too high')],
  ['400-long', 'ContextTooLong', refuse(400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum')],
  ['413', 'RequestTooLarge', refuse(413, 'request_too_large')],
  ['429', 'RateLimited', refuse(429, 'rate_limit_error')],
  ['429-later', 'RateLimited', refuse(429, 'rate_limit_error', 'slow down', later)],
  ['500', 'ProviderFailed', refuse(500, 'api_error', 'broken', later)],
  ['503', 'ProviderOverloaded', refuse(503, 'api_error', 'busy', later)],
  ['529', 'ProviderOverloaded', refuse(529, 'overloaded_error', 'busy', later)],
  ['hang-up', 'AnswerBrokenOff', ({ response }) => void response.destroy()],
  ...[301, 302, 303, 307, 308].map((status): Case => [`${status}`, 'WrongAddress', redirect(status)]),
]
const away = 'refused-connection'

beforeAll(async () => {
  proxied = await startProxied()
  played = await startPlayedTasks()
  workers = played.workers
  inner = createServer((_request, response) => {
    innerCalls += 1
    response.end(JSON.stringify(llmaAnswer))
  })
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve))
  proxied.upstream.script.answer = (received) => {
    const [, name = ''] = received.path.split('/')
    const found = cases.find(([of]) => name.endsWith(`--${of}`))
    ;(found?.[2] ?? answerJson(llmaAnswer))(received)
  }
})
afterAll(async () => {
  expect(innerCalls).toBe(0)
  await proxied.stop()
  await played.stop()
  await new Promise((resolve) => inner.close(resolve))
})

const addressOf = (name: string) =>
  name.endsWith(`--${away}`) ? 'http://127.0.0.1:9' : `${proxied.upstream.url}/${name}`

const runTask = (names: string[]) =>
  runPlayedTask(
    played,
    names.map((name) => ({ name, baseUrl: addressOf(name) })),
  )

const all: [string, CallFailure][] = [...cases.map(([name, reason]): [string, CallFailure] => [name, reason])]
all.push([away, 'ProviderUnreachable'])

const key = (name: string) => ({ namespace: 'default', name })

async function addProvider(name: string, fallbacks?: string[]): Promise<void> {
  const others = fallbacks && { fallbacks: fallbacks.map((other) => ({ providerRef: { name: other }, model: 'm' })) }
  await proxied.addProvider(name, { baseURL: addressOf(name), ...others })
}

/** What is noted for everyone of the provider: which part of it rests, and whether its last call failed. */
async function readNotes(name: string) {
  const { rateLimits, providerHealth } = proxied.service.ports.records
  const rest = await rateLimits.coolingDown(key(name))
  const health = await providerHealth.read(key(name))
  return { rests: rest && (rest.model ?? 'provider'), failed: (health?.failures ?? 0) > 0, known: health !== undefined }
}

function expectNotes(reason: CallFailure) {
  const { rest, blames } = ruleOfCall(reason)
  const rests = rest && (rest.of === 'model' ? 'm' : 'provider')
  return { rests, failed: blames === 'provider', known: blames !== 'nobody' }
}

/** What a worker tells a vendor's failure by from a service that is away, and a client what is asked in vain. */
function expectHeaders(headers: Headers, reason: CallFailure): void {
  const { error, again } = ruleOfCall(reason)
  expect(headers.get('x-svc-reason')).toBe(error)
  // A 502 is asked again for minutes, also where only its operator can help.
  if (error === 'UpstreamFailed') expect(headers.get('x-should-retry')).toBe(again ? null : 'false')
}

describe.concurrent.each([
  ['bytes passed on', 'bytes', passBytes],
  ['the tool loop', 'loop', runLoop],
  ['chat', 'chat', runTurn],
] as const)('a vendor that is called by %s', (_way, way, ask) => {
  it.each(all)('and answers %s has failed with %s [PROV-010] [PROXY-017]', async (of, reason) => {
    const name = `${way}--${of}`
    await addProvider(name)
    // A turn of chat waits for a vendor that is busy without saying for how long.
    if (way === 'chat' && of === '429') return
    const answer = await ask(proxied, name)
    const { error } = ruleOfCall(reason)
    expect(answer.status).toBe(errorStatus[error])
    if (way !== 'chat') expectHeaders(answer.headers, reason)
    await answer.text()
    await waitFor(async () => (await readNotes(name)).known, 'the call to be noted')
    expect(await readNotes(name)).toEqual(expectNotes(reason))
  })

  it.each(all)('and answers %s is replaced by a fallback if %s allows one [PROV-010]', async (of, reason) => {
    const [first, spare] = [`${way}-first--${of}`, `${way}-spare-${of}`]
    await addProvider(spare)
    await addProvider(first, [spare])
    const answer = await ask(proxied, first)
    const { takeOver, error } = ruleOfCall(reason)
    expect(answer.status).toBe(takeOver ? 200 : errorStatus[error])
    await answer.text()
  })
})

describe.concurrent('a vendor that is called by a task', () => {
  it.each(all)('and answers %s ends it with %s [PROV-010]', async (of, reason) => {
    const name = `task--${of}`
    expect(await runTask([name])).toBe(reason)
    const { rest } = ruleOfCall(reason)
    const noted = workers.calls.find(({ path }) => path === `/internal/v1/cooldowns/default/${name}`)
    expect(noted === undefined).toBe(rest === undefined)
    const body = noted && JSON.parse(noted.body)
    if (body !== undefined)
      expect([body.failure, body.model ?? 'provider']).toEqual([reason, rest?.of === 'model' ? 'm' : 'provider'])
    expect(failures[reason].class).toMatch(/^(final|retried)$/)
  })

  it.each(all)('and answers %s is replaced by a fallback if %s allows one', async (of, reason) => {
    const outcome = await runTask([`task-first--${of}`, `task-spare-${of}`])
    expect(outcome).toBe(ruleOfCall(reason).takeOver ? 'answered' : reason)
  })
})

it('a model that cools down is called by neither relay nor loop, while other models of its provider are called [PROV-010]', async () => {
  await addProvider('shared')
  const until = new Date(Date.now() + 60_000)
  const pause = { until, reason: 'slow down', failure: 'RateLimited', asked: true } as const
  await proxied.service.ports.records.rateLimits.coolDown(key('shared'), { ...pause, model: 'm' })
  for (const ask of [passBytes, runLoop]) {
    const answer = await ask(proxied, 'shared')
    expect([answer.status, Number(answer.headers.get('retry-after')) > 50]).toEqual([429, true])
  }
  const other = { model: 'shared/other', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  expect((await proxied.ask('/llma/v1/messages', other)).status).toBe(200)
  expect(proxied.upstream.received.filter(({ path }) => path.startsWith('/shared'))).toHaveLength(1)
})
