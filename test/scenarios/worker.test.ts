// The worker program from its assignment to its outcome, with the demo model and real tools.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WorkAssignment } from '../../src/contract/api/tasks/assignment.ts'
import type { StepReport } from '../../src/contract/api/tasks/steps.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { systemIds } from '../../src/lib/system-clock.ts'
import { makeStepSpan } from '../../src/rules/tasks/step-spans.ts'
import { readLeftFiles, readWorkspaceFiles } from '../../src/runtime/folders/left-files.ts'
import { createSandbox } from '../../src/runtime/local/sandbox/sandbox.ts'
import type { WorkerDeps } from '../../src/worker/deps.ts'
import { runWorker } from '../../src/worker/run-worker.ts'
import { startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { initialize, startScriptedServer, textOf } from '../fixtures/mcp/scripted-server.ts'
import { startWorkerService, type WorkerService } from './worker-service.ts'

let service: WorkerService
let base: string
const pauses: number[] = []

/** Real time, but for pauses of a second and more: those pass at once and are written down. */
const clock = {
  now: () => new Date(),
  async sleep(ms: number, signal?: AbortSignal) {
    if (ms >= 1000 && ms <= 60_000) pauses.push(ms)
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms >= 500 && ms <= 20_000 ? 1 : Math.min(ms, 2_000_000_000))
      timer.unref()
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  },
}

beforeEach(async () => {
  pauses.length = 0
  service = await startWorkerService()
  base = await mkdtemp(join(tmpdir(), 'worker-'))
})
afterEach(async () => {
  await service.close()
  await rm(base, { recursive: true, force: true, maxRetries: 5 })
})

const demo: WorkAssignment['model']['choices'][number] = {
  provider: { namespace: 'default', name: 'demo', type: 'demo' },
  model: 'demo',
}

function assign(prompt: string, change: Partial<WorkAssignment> = {}): WorkAssignment {
  return {
    version: 1,
    api: { url: service.url, token: service.token },
    task: { namespace: 'default', name: 'job', uid: 'uid-1', attempt: 1, type: 'ai' },
    loop: {
      maxIterations: 20,
      maxToolCalls: 128,
      toolTimeoutMs: 20_000,
      systemPrompt: '',
      prompt,
      tools: ['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write'],
    },
    model: { choices: [demo] },
    customTools: [],
    egress: { allowNetworks: [], deny: [] },
    redact: [],
    ...change,
  }
}

let workspaces = 0

async function startWorker(assignment: WorkAssignment, files: Record<string, string> = {}, stop?: AbortSignal) {
  const workspaceRoot = join(base, `workspace-${++workspaces}`)
  await mkdir(workspaceRoot)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspaceRoot, name)), { recursive: true })
    await writeFile(join(workspaceRoot, name), text)
  }
  const [stdin, report, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const said: string[] = []
  report.on('data', (bytes: Buffer) => said.push(bytes.toString()))
  const load = async (): Promise<WorkerDeps> => ({
    egress: createEgress(),
    sandbox: createSandbox({ ids: systemIds }),
    clock,
    ids: systemIds,
    workspaceRoot,
    readLeftFiles,
    readWorkspaceFiles,
    keepUnsent: () => undefined,
  })
  const code = runWorker({ stdin, report, stderr, load, ...(stop && { stop }) })
  stdin.write(`${JSON.stringify(assignment)}\n`)
  return { stdin, code, workspaceRoot, outcome: () => JSON.parse(said.join('').trim().split('\n')[1] ?? 'null') }
}

async function run(assignment: WorkAssignment) {
  const worker = await startWorker(assignment)
  const code = await worker.code
  return { ...worker, code, outcome: worker.outcome() }
}

describe('an ai run', () => {
  it('uses its tools and stores result, artifacts, log and usage [BUILT-001]', async () => {
    const { code, outcome } = await run(assign('write hello to artifacts/a.txt then read artifacts/a.txt'))
    expect([code, outcome]).toEqual([0, { ok: true }])
    expect(service.result).toContain('demo provider')
    expect(service.result).toContain('hello')
    expect(service.artifacts['a.txt']).toEqual({ body: 'hello', contentType: 'text/plain; charset=utf-8' })
    expect(service.usage).toHaveLength(3)
    expect(service.usage[0]).toMatchObject({ provider: { namespace: 'default', name: 'demo' }, demo: true })
    expect(new Set(service.usage.map((record) => record.id)).size).toBe(3)
    for (const text of ['[default/demo, model demo]', '[file_write ', '[file_read: ok', '[done: 3 model calls']) {
      expect(service.logs).toContain(text)
    }
    expect(service.logs).not.toBe(service.result)
    expect(service.calls.at(-1)?.path).toBe('/internal/v1/attempts/default/job/end')
  })

  it('saves its end when files are to be handed in, and not where the answer goes in at once', async () => {
    const saves = () => service.calls.filter(({ path }) => path.includes('/checkpoints/')).length
    expect((await run(assign('say hello'))).code).toBe(0)
    expect([service.usage.length, saves()]).toEqual([1, 0])
    const finished = () => (service.checkpoint as { state: { finished?: object } } | undefined)?.state.finished
    service.interfere = ({ path }) => (path.includes('/artifacts/') && finished() === undefined ? 409 : undefined)
    expect((await run(assign('write hello to artifacts/a.txt'))).code).toBe(0)
    expect(service.artifacts['a.txt']?.body).toBe('hello')
  })

  it('reports what it waits for, and keeps the text so far when it is stopped', async () => {
    const never = new Promise(() => {})
    const vendor = await startVendor((_request, count) =>
      count === 1
        ? { status: 429, message: 'slowly', retryAfter: 15 }
        : [{ text: 'a whole line\nhalf a sen' }, { text: 'tence' }, { wait: never }],
    )
    const provider = {
      namespace: 'default',
      name: 'busy',
      type: 'llmo' as const,
      baseUrl: vendor.url,
      apiKey: 'k-1234',
    }
    const stop = new AbortController()
    const model = { choices: [{ provider: { ...provider, trusted: true }, model: 'm' }] }
    const worker = await startWorker(assign('talk', { model }), {}, stop.signal)
    await service.until(() => service.logs.includes('a whole line'))
    stop.abort()
    expect(await worker.code).toBe(1)
    expect(service.logs).toMatch(/\[waiting 15 s: .*slowly.*the vendor asks for this wait.*then it is retried\]/)
    expect(service.logs).toContain('half a sentence')
    await vendor.close()
  })

  it('continues after an abort without appending twice, in a new workspace [BUILT-013]', async () => {
    const prompt = 'append one to notes.txt then append two to notes.txt then read notes.txt'
    const interrupted = await startWorker(assign(prompt))
    // The second append is under way for all that the saved state knows: the service dies before it hears more.
    let saves = 0
    service.interfere = (call) => {
      const isSave = call.path.includes('checkpoints')
      // What comes after it tells of changes only.
      if (isSave && (saves > 0 || call.body.includes('"two"'))) saves += 1
      return isSave && saves > 1 ? 'hang' : undefined
    }
    await service.until(() => saves > 1)
    interrupted.stdin.destroy()
    expect(await interrupted.code).toBe(1)
    expect(interrupted.outcome()).toBeNull()
    service.interfere = () => undefined

    const second = await run(assign(prompt, { task: { ...assign('').task, attempt: 2 } }))
    expect(second.outcome).toEqual({ ok: true })
    const text = await readFile(join(second.workspaceRoot, 'notes.txt'), 'utf8')
    expect(text.match(/one/g)).toHaveLength(1)
    expect(text.match(/two/g)?.length ?? 0).toBeLessThanOrEqual(1)
    expect(service.logs).toContain('[attempt 2 goes on after model call')
    // What the first attempt paid for is not asked for again: its two calls, and those that were left.
    expect(service.usage.map((record) => record.id)).toEqual(['1-1', '1-2', '2-1', '2-2'])
  })

  it('reports a call of unknown outcome to the model instead of repeating it', async () => {
    const use = {
      type: 'tool_use',
      id: 'demo_1_0',
      name: 'file_write',
      args: { path: 'n', content: 'x', mode: 'append' },
    }
    const prompt = 'append x to n then read n'
    const state = {
      version: 1,
      system: [],
      iteration: 1,
      penalty: 0,
      llmCalls: 1,
      repetitions: {},
      repeated: [],
      interruptions: 0,
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
      text: '',
      messages: [
        { role: 'user', content: [{ type: 'text', text: prompt }] },
        { role: 'assistant', content: [use] },
      ],
      pending: [{ ...use, repeatable: false, state: 'started' }],
    }
    service.checkpoint = { kind: 'ai', state }
    const { outcome, workspaceRoot } = await run(assign(prompt, { task: { ...assign('').task, attempt: 2 } }))
    expect(outcome).toEqual({ ok: true })
    expect(service.result).toContain('outcome_unknown')
    await expect(readFile(join(workspaceRoot, 'n'))).rejects.toThrow('ENOENT')
  })

  it('starts from the beginning when the saved state cannot be read', async () => {
    service.checkpoint = { kind: 'ai', state: { version: 99 } }
    const { outcome } = await run(assign('say fine', { task: { ...assign('').task, attempt: 2 } }))
    expect(outcome).toEqual({ ok: true })
    expect(service.result).toContain('fine')
  })

  it('waits while the service is away, and hands its answer in once it is back, without another model call', async () => {
    const ways = ['cut', 503, 502, 504] as const
    let failures = 0
    service.interfere = ({ path }) => (path.endsWith('/end') && failures < 12 ? ways[failures++ % 4] : undefined)
    const { outcome } = await run(assign('say patience'))
    expect(outcome).toEqual({ ok: true })
    expect(failures).toBe(12)
    expect(service.result).toContain('patience')
    expect(service.usage).toHaveLength(1)
  })

  it('ends with the cause when the service no longer accepts its state', async () => {
    service.interfere = ({ path }) => (path.includes('checkpoints') ? 409 : undefined)
    const { code, outcome } = await run(assign('write a to b'))
    expect(code).toBe(1)
    expect(outcome).toMatchObject({ ok: false, reason: 'Superseded' })
    expect(service.result).toBeUndefined()
  })

  it('makes no further call once a budget is used up, and keeps the result of the last one', async () => {
    const args = { path: 'b', content: 'a' }
    const vendor = await startVendor((_request, count) =>
      count === 1 ? [{ call: { name: 'file_write', args } }] : [{ text: 'done' }],
    )
    const provider = {
      namespace: 'default',
      name: 'p',
      type: 'llmo' as const,
      baseUrl: vendor.url,
      trusted: true as const,
    }
    service.interfere = ({ path }) => (path.includes('/usage/') ? 'BudgetExceeded' : undefined)
    const { outcome, workspaceRoot } = await run(assign('go on', { model: { choices: [{ model: 'm', provider }] } }))
    await vendor.close()
    expect(outcome).toMatchObject({ ok: false, reason: 'BudgetExceeded' })
    expect(vendor.requests).toHaveLength(1)
    expect(await readFile(join(workspaceRoot, 'b'), 'utf8')).toBe('a')
  })

  it('distinguishes a missing key, an unreachable vendor and a refused model', async () => {
    const vendor = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { type: 'not_found_error', message: 'model: nope not found' } }))
    })
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
    const port = (vendor.address() as AddressInfo).port
    const choose = (provider: Partial<typeof demo.provider>): Partial<WorkAssignment> => ({
      model: {
        choices: [
          {
            model: 'nope',
            provider: { namespace: 'default', name: 'p', type: 'llma', ...provider },
          },
        ],
      },
    })
    const apiKey = 'vendor-key-0815'
    const ended = async (provider: Partial<typeof demo.provider>) => (await run(assign('x', choose(provider)))).outcome
    expect(await ended({})).toMatchObject({ reason: 'MissingApiKey' })
    const refused = await ended({ apiKey, baseUrl: `http://127.0.0.1:${port}`, trusted: true })
    expect(refused).toMatchObject({ reason: 'ModelNotFound', message: expect.stringContaining('nope') })
    vendor.closeAllConnections()
    await new Promise((resolve) => vendor.close(resolve))
    const away = await ended({ apiKey, baseUrl: `http://127.0.0.1:${port}`, trusted: true })
    expect(away).toMatchObject({ reason: 'ProviderUnreachable' })
    expect(service.logs).toContain('[failed: ')
  })

  it('asks for a lease before each call of a provider with a rate limit, and gives back what is left [PROV-009]', async () => {
    const limited = { ...demo, provider: { ...demo.provider, rateLimit: { requestsPerMinute: 60 } } }
    await run(assign('write a to b', { model: { choices: [limited] } }))
    const leases = service.calls.filter(({ path }) => path === '/internal/v1/leases/default/demo')
    const asked: { requests: number; tokens: number }[] = leases.map(({ body }) => JSON.parse(body))
    expect(asked.filter(({ requests, tokens }) => requests === 1 && tokens > 0)).toHaveLength(2)
    expect(asked.filter(({ requests, tokens }) => requests === 0 && tokens < 0)).toHaveLength(2)
  })

  it('skips a provider that another worker has put into a cool-down [PROV-010]', async () => {
    service.cooling.busy = { forMs: 60_000, reason: 'asked too much' }
    const busy = { model: 'm', provider: { ...demo.provider, name: 'busy', type: 'llma' as const, apiKey: 'key-0815' } }
    const { outcome } = await run(assign('say hello', { model: { choices: [busy, demo] } }))
    expect(outcome).toEqual({ ok: true })
    expect(service.logs).toContain('[default/demo, model demo]')
    expect(service.usage.map(({ provider }) => provider)).toEqual([{ namespace: 'default', name: 'demo' }])
  })

  it('says which providers failed and why, of which the key is not part [PROV-011] [SECRET-008]', async () => {
    const vendor = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"type":"authentication_error","message":"no such key: key-0815"}}')
    })
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
    const provider = { ...demo.provider, name: 'locked', type: 'llma' as const, apiKey: 'key-0815', baseUrl }
    const model = { choices: [{ model: 'm', provider }, demo] }
    const { outcome } = await run(assign('say hello', { model, egress: { allowNetworks: ['127.0.0.0/8'], deny: [] } }))
    vendor.close()
    expect(outcome).toEqual({ ok: true })
    expect(service.reports).toMatchObject([
      { provider: 'locked', answered: false, failures: 1, reason: expect.stringContaining('HTTP 401') },
    ])
    expect(JSON.stringify(service.reports)).not.toContain('key-0815')
  })

  it.each([500, 'cut' as const])(
    'continues when the service does not accept its report about a provider (%s)',
    async (interference) => {
      service.interfere = ({ path }) => (path.includes('/provider-calls/') ? interference : undefined)
      const away = { ...demo.provider, name: 'away', type: 'llma' as const, apiKey: 'k', baseUrl: 'http://127.0.0.1:9' }
      const model = { choices: [{ model: 'm', provider: away }, demo] }
      const { outcome } = await run(
        assign('say hello', { model, egress: { allowNetworks: ['127.0.0.0/8'], deny: [] } }),
      )
      expect(outcome).toEqual({ ok: true })
      expect(service.calls.some(({ path }) => path.endsWith('/provider-calls/default/away'))).toBe(true)
    },
  )

  it('continues when it cannot find out whether a provider cools down', async () => {
    service.interfere = ({ path }) => (path.includes('/leases/') ? 503 : undefined)
    const { outcome } = await run(assign('say hello'))
    expect(outcome).toEqual({ ok: true })
    expect(pauses.filter((ms) => ms >= 1000)).toEqual([])
  })

  it('removes the secrets of its assignment from everything it sends [SECRET-008]', async () => {
    const secret = 'very-secret-value-1'
    const prompt = `write the key is ${secret} to artifacts/k.txt then read artifacts/k.txt`
    const { outcome } = await run(assign(prompt, { redact: [secret] }))
    expect(outcome).toEqual({ ok: true })
    expect(service.result).toContain('[REDACTED]')
    expect(service.result).not.toContain(secret)
    expect(service.logs).not.toContain(secret)
    expect(service.logs + service.result).not.toContain(service.token)
  })

  it('gives the model code unchanged, and removes what looks like a secret from the log [SECRET-008]', async () => {
    await run(assign('write password: hunter22 to artifacts/c.txt then read artifacts/c.txt'))
    expect(service.artifacts['c.txt']?.body).toBe('password: hunter22')
    expect(service.result).toContain('password: hunter22')
    expect(service.logs).toContain('[REDACTED]')
    expect(service.logs).not.toContain('hunter22')
  })

  it('stores its artifacts when it fails and when its time is over', async () => {
    const write = 'write hello to artifacts/a.txt then'
    const late = await run(assign(`${write} wait 300 seconds`, { deadline: new Date(Date.now() + 6000).toISOString() }))
    expect(late.outcome).toMatchObject({ ok: false, reason: 'DeadlineExceeded' })
    expect(service.artifacts['a.txt']?.body).toBe('hello')
    const { choices } = assign('x').model
    const keyless = {
      choices: choices.map((one) => ({ ...one, provider: { ...one.provider, type: 'llma' as const } })),
    }
    const failing = await startWorker(assign('x', { model: keyless }), { 'artifacts/b.txt': 'kept' })
    expect(await failing.code).toBe(1)
    expect(failing.outcome()).toMatchObject({ ok: false, reason: 'MissingApiKey' })
    expect(service.artifacts['b.txt']?.body).toBe('kept')
  })

  it('ends at its deadline and gives that as the reason', async () => {
    const deadline = new Date(Date.now() + 1500).toISOString()
    const { code, outcome } = await run(assign('wait 300 seconds', { deadline }))
    expect(code).toBe(1)
    expect(outcome).toMatchObject({ ok: false, reason: 'DeadlineExceeded' })
  })

  it('gives a tool its own time limit, even when that is longer than the usual one', async () => {
    const server = createServer((_request, response) => void setTimeout(() => response.end('{"sky":"clear"}'), 100))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const http = { url, method: 'GET' as const, headers: {}, timeoutMs: 60_000 }
    const customTools = [{ name: 'weather', description: 'the weather', parameters: {}, http }]
    // A limit of a second is over at once here.
    const loop = { ...assign('call weather {}').loop, toolTimeoutMs: 1000 }
    const egress = { allowNetworks: ['127.0.0.0/8'], deny: [] }
    expect((await run(assign('', { loop, customTools, egress }))).outcome).toEqual({ ok: true })
    server.close()
    expect(service.result).toContain('clear')
  })

  it('calls tools of an MCP server in one session, which ends with the run', async () => {
    const mcp = await startScriptedServer()
    mcp.replies.initialize = (response, received) => {
      response.setHeader('mcp-session-id', 'one-session')
      initialize(response, received)
    }
    const listed = { serverName: 'search', description: 'd', parameters: { type: 'object' } }
    const token = 'token-of-the-server-0123'
    mcp.replies['tools/call'] = textOf(`found with ${token}`)
    const customTools = [
      {
        name: 'docs',
        description: 'the docs',
        parameters: {},
        mcp: { url: mcp.url, headers: {}, timeoutMs: 5000, token },
        tools: [{ ...listed, name: 'docs__search' }],
      },
    ]
    const egress = { allowNetworks: ['127.0.0.0/8'], deny: [] }
    const { loop } = assign('call docs__search {"q":"a"} then call docs__search {"q":"b"}')
    expect((await run(assign('', { loop, customTools, egress }))).outcome).toEqual({ ok: true })
    await mcp.stop()
    const calls = mcp.seen.filter(({ message }) => message?.method === 'tools/call')
    expect(calls.map(({ message }) => message?.params)).toMatchObject([
      { name: 'search', arguments: { q: 'a' } },
      { name: 'search', arguments: { q: 'b' } },
    ])
    expect(calls.map(({ headers }) => headers['mcp-session-id'])).toEqual(['one-session', 'one-session'])
    expect(mcp.seen.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'one-session' } })
    expect(JSON.stringify(service.checkpoint)).toContain('found with [REDACTED]')
    expect(JSON.stringify([service.result, service.checkpoint])).not.toContain(token)
  })

  it('hands its trace to HTTP tools and MCP servers, each call as what is below it', async () => {
    const mcp = await startScriptedServer()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const http = { url: `http://${mcp.host}/weather`, method: 'GET' as const, headers: {}, timeoutMs: 5000 }
    const listed = { serverName: 'search', description: 'd', parameters: { type: 'object' } }
    const common = { description: 'd', parameters: {} }
    const customTools = [
      { ...common, name: 'weather', http },
      {
        ...common,
        name: 'docs',
        mcp: { url: mcp.url, headers: {}, timeoutMs: 5000 },
        tools: [{ ...listed, name: 'docs__search' }],
      },
    ]
    const egress = { allowNetworks: ['127.0.0.0/8'], deny: [] }
    const { loop, task } = assign('call weather {} then call docs__search {"q":"a"}')
    const assignment = assign('', { loop, customTools, egress, task: { ...task, traceparent } })
    expect((await run(assignment)).outcome).toEqual({ ok: true })
    await mcp.stop()
    const reports = service.calls.filter(({ path }) => /\/(?:attempts|trace)\//.test(path))
    const steps = reports.flatMap(({ body }) => (JSON.parse(body) as { steps?: StepReport[] }).steps ?? [])
    const [weather, search] = ['weather', 'docs__search'].map((name) => {
      const step = steps.findLast((one) => one.name === name)
      const span = makeStepSpan({ uid: task.uid, traceparent }, step as StepReport, { attempt: 1, contents: false })
      return `00-0af7651916cd43dd8448eb211c80319c-${span?.context?.spanId}-01`
    })
    expect(mcp.seen.find(({ path }) => path === '/weather')?.headers.traceparent).toBe(weather)
    const call = mcp.seen.find(({ message }) => message?.method === 'tools/call')
    expect(call?.message?.params).toMatchObject({ _meta: { traceparent: search } })
    expect(search).not.toBe(weather)
  })

  it('knows the earlier messages of the session', async () => {
    const messages = [
      { role: 'assistant' as const, content: 'opening' },
      { role: 'user' as const, content: 'earlier question' },
      { role: 'assistant' as const, content: 'earlier answer' },
    ]
    await run(assign('write a to b', { session: { name: 's', messages } }))
    const saved = JSON.stringify(service.checkpoint)
    expect(saved).toContain('earlier question')
    expect(saved).toContain('earlier answer')
    expect(saved).not.toContain('opening')
  })

  it('ends without an outcome as soon as the service is gone', async () => {
    const worker = await startWorker(assign('write a to b then wait 300 seconds'))
    await service.until(({ path, body }) => path.includes('checkpoints') && body.includes('tool_result'))
    worker.stdin.end()
    expect(await worker.code).toBe(1)
    expect(worker.outcome()).toBeNull()
    expect(service.result).toBeUndefined()
  })

  it('refuses a task of a type that it cannot run', async () => {
    const { outcome } = await run(assign('x', { task: { ...assign('').task, type: 'agent' } }))
    expect(outcome).toMatchObject({ ok: false, reason: 'UnsupportedTask' })
  })
})
