// Completion callbacks over a real socket: signed, retried with backoff, given up after a day, never lost.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

type Received = { headers: Record<string, string | string[] | undefined>; body: string }

let bench: Bench
let server: Server
let url: string
let received: Received[]
let answer: number

beforeEach(async () => {
  received = []
  answer = 204
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(answer).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/done`
  bench = await openBench({ settings: { egress: { allowNetworks: ['127.0.0.0/8'], deny: [] } } })
})
afterEach(async () => {
  server.closeAllConnections()
  await bench.dispose()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function finish(name: string, webhookURL = url) {
  await bench.submitTask(name, { webhookURL })
  await bench.running(name)
  bench.workloads.succeed(name, 'x')
  return await bench.phase(name, 'Succeeded')
}
const webhookState = (name: string, state: string) =>
  bench.taskWhen(name, ({ status }) => status?.webhook?.state === state, `callback is ${state}`)

describe('a completion callback', () => {
  it('contains how the task ended, and a signature made with the secret of the namespace [TASK-055] [TASK-057]', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'svc-callback-signing', stringData: { secret: 'k3y' } })
    const { metadata } = await finish('job')
    const delivered = await webhookState('job', 'Delivered')
    expect(delivered.status).toMatchObject({ webhookDelivered: true, webhook: { attempts: 1 } })
    const [{ headers, body } = { headers: {}, body: '' }] = received
    expect(JSON.parse(body)).toMatchObject({
      taskName: 'job',
      taskNamespace: 'default',
      phase: 'Succeeded',
      attempts: 1,
      resultRef: { available: true },
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Svc-Controller/1.0',
      'x-svc-task': 'job',
      'x-svc-namespace': 'default',
      'x-svc-delivery': metadata.uid,
      'x-svc-signature-256': `sha256=${createHmac('sha256', 'k3y').update(body).digest('hex')}`,
    })
    expect((await bench.eventsOf('job')).at(-1)?.type).toBe('CallbackDelivered')
  })

  it('is accepted by the example receiver, which refuses any other body [TASK-055]', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'svc-callback-signing', stringData: { secret: 'k3y' } })
    const receiver = spawn(process.execPath, ['examples/webhook-receiver.mjs'], {
      env: { ...process.env, WEBHOOK_SECRET: 'k3y', PORT: '0' },
    })
    try {
      const [line] = (await once(receiver.stdout, 'data')) as [Buffer]
      const target = `http://127.0.0.1:${/\d+/.exec(line.toString())?.[0]}/`
      const printed = once(receiver.stdout, 'data')
      const { metadata } = await finish('job', target)
      await webhookState('job', 'Delivered')
      expect(String((await printed)[0])).toBe(`default/job Succeeded ${metadata.uid}\n`)
      const headers = { 'x-svc-signature-256': `sha256=${'0'.repeat(64)}` }
      for (const each of [headers, {}]) {
        expect((await fetch(target, { method: 'POST', headers: each, body: '{}' })).status).toBe(401)
      }
    } finally {
      receiver.kill()
    }
  })

  it('creates the signing secret on first use and keeps it [TASK-055]', async () => {
    await finish('one')
    await finish('two')
    await webhookState('one', 'Delivered')
    await webhookState('two', 'Delivered')
    const secret = (await bench.secrets.read({ namespace: 'default', name: 'svc-callback-signing' }))?.secret ?? ''
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    for (const { headers, body } of received) {
      const expected = createHmac('sha256', secret).update(body).digest('hex')
      expect(headers['x-svc-signature-256']).toBe(`sha256=${expected}`)
    }
  })

  it('is retried with backoff until it is accepted, over a restart too [TASK-056] [TASK-057]', async () => {
    answer = 500
    await finish('job')
    const waiting = await bench.taskWhen('job', ({ status }) => status?.webhook?.attempts === 1, 'was tried')
    // Three quarters of 5 s: the bench's random number is 0.5.
    expect(waiting.status?.webhook).toMatchObject({
      state: 'Pending',
      lastError: 'the receiver answered 500; it must answer 2xx',
      nextAttemptTime: '2026-03-01T12:00:03.750Z',
    })
    await bench.crash()
    await bench.jump(3000)
    expect(received).toHaveLength(1)
    await bench.jump(750)
    await bench.taskWhen('job', ({ status }) => status?.webhook?.attempts === 2, 'was tried twice')
    answer = 200
    await bench.jump(7500)
    const delivered = await webhookState('job', 'Delivered')
    expect(delivered.status?.webhook?.attempts).toBe(3)
    expect(delivered.status?.webhook?.lastError).toBeUndefined()
    expect(received).toHaveLength(3)
  })

  it('is given up after 24 hours [TASK-056]', async () => {
    answer = 500
    await finish('job')
    for (let tries = 1; tries < 100; tries += 1) {
      const task = await bench.taskWhen('job', ({ status }) => status?.webhook?.attempts === tries, `try ${tries}`)
      if (task.status?.webhook?.state === 'Failed') break
      const next = Date.parse(task.status?.webhook?.nextAttemptTime ?? '')
      await waitFor(
        async () => {
          // The wait may not have begun yet; then there is something to wake on the next look.
          await bench.jump(Math.max(0, next - bench.clock.now().getTime()))
          return received.length > tries ? true : undefined
        },
        `try ${tries + 1} is made`,
      )
    }
    const failed = await webhookState('job', 'Failed')
    expect(failed.status?.webhookDelivered).toBe(false)
    expect(failed.status?.webhook?.attempts).toBeGreaterThan(24)
    const elapsed = bench.clock.now().getTime() - Date.parse(failed.status?.completionTime ?? '')
    expect(elapsed).toBeLessThanOrEqual(86_400_000)
    expect(elapsed).toBeGreaterThan(22 * 3_600_000)
    expect((await bench.eventsOf('job')).at(-1)?.type).toBe('CallbackFailed')
  })

  it('is not sent to private addresses that are not allowed', async () => {
    const forbidden = url.replace('127.0.0.1', '[::1]')
    await finish('job', forbidden)
    const waiting = await bench.taskWhen('job', ({ status }) => status?.webhook?.attempts === 1, 'was tried')
    expect(waiting.status?.webhook?.lastError).toMatch(/::1/)
    expect(received).toEqual([])
  })

  it('delays neither other tasks nor the deletion of its own task', async () => {
    server.removeAllListeners('request')
    server.on('request', () => undefined)
    await finish('stuck')
    await finish('other', undefined)
    await bench.resources.remove('Task', { namespace: 'default', name: 'stuck' })
    await waitFor(async () => ((await bench.getTask('stuck')) === undefined ? true : undefined), 'it is gone')
  })
})

describe('what a parked task asks a person', () => {
  const draft = (uid: string) => ({
    namespace: 'default',
    task: { uid, name: 'asks' },
    agentName: 'cleaner',
    call: 'c',
    tool: 'delete_agent',
    arguments: { name: 'helper' },
    message: 'May I?',
    expiresAt: new Date('2026-03-02T12:00:00Z'),
  })

  /** A task that has parked for an answer; the id of the approval. */
  async function parkForAnswer(): Promise<string> {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.submitTask('asks', { type: 'ai', command: undefined, prompt: 'x', webhookURL: url })
    const { metadata } = await bench.running('asks')
    const { id, expiresAt: until } = await bench.records.approvals.ask(draft(metadata.uid))
    const attempt = { taskUid: metadata.uid, attempt: 1 }
    await bench.records.parkings.park(attempt, [{ kind: 'approval', call: 'c', id, until }])
    bench.workloads.fail('asks', 'ExitCode', 'the run waits', 'Parked')
    return id
  }
  const bodies = () => received.map(({ body }) => JSON.parse(body) as { phase: string; approval?: { id: string } })

  it('reaches the receiver of its callbacks once, signed, with who asks for what', async () => {
    const id = await parkForAnswer()
    const [first] = await waitFor(() => received.length > 0 && received, 'the question')
    expect(first?.headers).toMatchObject({ 'x-svc-delivery': id, 'x-svc-signature-256': expect.any(String) })
    expect(bodies()[0]).toMatchObject({
      taskName: 'asks',
      phase: 'Running',
      approval: {
        id,
        agentName: 'cleaner',
        tool: 'delete_agent',
        arguments: { name: 'helper' },
        message: 'May I?',
        expiresAt: '2026-03-02T12:00:00.000Z',
      },
    })
    await waitFor(
      async () => (await bench.eventsOf('asks')).some(({ type }) => type === 'CallbackDelivered'),
      'its event',
    )
    await bench.jump(400_000)
    const by = { kind: 'token', id: 't1', name: 'ann' } as const
    await bench.records.approvals.answer(id, { status: 'approved', by })
    await waitFor(async () => {
      await bench.jump(400_000)
      return (await bench.getTask('asks'))?.status?.attempts === 2
    }, 'asks to go on')
    await bench.putResult('asks', 'done')
    bench.workloads.succeed('asks')
    await webhookState('asks', 'Delivered')
    expect(bodies().map(({ phase, approval }) => [phase, approval?.id])).toEqual([
      ['Running', id],
      ['Succeeded', undefined],
    ])
  })

  it('is tried again while nobody has answered, and told anew by a service that starts', async () => {
    answer = 500
    await parkForAnswer()
    await waitFor(() => received.length === 1, 'the first try')
    answer = 204
    await waitFor(async () => {
      await bench.jump(5_000)
      return received.length === 2
    }, 'the second try')
    const types = async () => (await bench.eventsOf('asks')).map(({ type }) => type)
    await waitFor(async () => (await types()).includes('CallbackDelivered'), 'the second try to be noted')
    expect(await types()).toContain('CallbackRetry')
    await bench.crash()
    await waitFor(() => received.length === 3, 'the try of the next service')
    expect(new Set(received.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1)
  })
})
