// The worker API in memory, for runs of the worker without the service. Kept to what the real one promises.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EndSubmit } from '../../src/contract/api/tasks/attempt-end.ts'
import { applyChange, type StateChange } from '../../src/worker/ai/checkpoint.ts'

export type SeenCall = { method: string; path: string; body: string; contentType: string }

export type WorkerService = {
  url: string
  token: string
  calls: SeenCall[]
  checkpoint: unknown
  result: string | undefined
  /** Whole lines. */
  logs: string
  /** What came of the line after them, each time. */
  beginnings: string[]
  usage: Record<string, unknown>[]
  /** What was said of how calls ended. */
  reports: Record<string, unknown>[]
  artifacts: Record<string, { body: string; contentType: string }>
  /** Providers that another worker has cooled down, by name. */
  cooling: Record<string, { forMs: number; reason: string }>
  /** Answers instead of the service: an error by its status or reason, `hang` or `cut`. Undefined: the service answers. */
  interfere: (call: SeenCall) => number | 'BudgetExceeded' | 'hang' | 'cut' | undefined
  /** Resolves when a call fits. */
  until(fits: (call: SeenCall) => boolean): Promise<void>
  close(): Promise<void>
}

type Answer = { status: number; json?: unknown; reason?: string }

function keep(service: WorkerService, call: SeenCall): Answer {
  const [, , , noun = '', , target = '', name = ''] = call.path.split('/').map(decodeURIComponent)
  if (noun === 'checkpoints') return keepCheckpoint(service, call)
  if (noun === 'leases') {
    const { tokens } = JSON.parse(call.body) as { tokens: number }
    return { status: 200, json: { granted: true, retryAfterMs: 0, tokens, coolingDown: service.cooling[target] } }
  }
  if (noun === 'results') service.result = call.body
  else if (noun === 'attempts') keepEnd(service, JSON.parse(call.body))
  else if (noun === 'logs') keepLog(service, call.body)
  else if (noun === 'usage') service.usage.push(JSON.parse(call.body))
  else if (noun === 'provider-calls') service.reports.push({ provider: target, ...JSON.parse(call.body) })
  else if (noun === 'artifacts') service.artifacts[name] = { body: call.body, contentType: call.contentType }
  else if (noun !== 'cooldowns') return { status: 404 }
  return { status: noun === 'artifacts' ? 201 : 204 }
}

function keepEnd(service: WorkerService, { result, log = '', usage = [] }: Extract<EndSubmit, { ok: true }>): void {
  service.result = result ?? service.result
  service.usage.push(...usage)
  keepLog(service, log)
}

function keepLog(service: WorkerService, text: string): void {
  const end = text.lastIndexOf('\n') + 1
  service.logs += text.slice(0, end)
  if (end < text.length) service.beginnings.push(text.slice(end))
}

function keepCheckpoint(service: WorkerService, call: SeenCall): Answer {
  if (call.method === 'GET') {
    return service.checkpoint === undefined ? { status: 404 } : { status: 200, json: [service.checkpoint] }
  }
  const sent: unknown = JSON.parse(call.body)
  service.checkpoint = call.method === 'POST' ? applyChange(service.checkpoint, sent as StateChange) : sent
  return { status: 204 }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

function send(response: ServerResponse, answer: Answer): void {
  const error = {
    error: { code: answer.status, reason: answer.reason ?? reasons[answer.status] ?? 'Internal', message: 'not now' },
  }
  const json = answer.json ?? (answer.status >= 400 ? error : undefined)
  response.writeHead(answer.status, json === undefined ? {} : { 'content-type': 'application/json' })
  response.end(json === undefined ? undefined : JSON.stringify(json))
}

const reasons: Record<number, string> = {
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  503: 'Unavailable',
}

function refusalOf(interference: number | 'BudgetExceeded'): Answer {
  return typeof interference === 'number' ? { status: interference } : { status: 403, reason: interference }
}

export async function startWorkerService(): Promise<WorkerService> {
  const waiters = new Set<(call: SeenCall) => void>()
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const service: WorkerService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'attempt-token-4711',
    calls: [],
    checkpoint: undefined,
    result: undefined,
    logs: '',
    beginnings: [],
    usage: [],
    reports: [],
    artifacts: {},
    cooling: {},
    interfere: () => undefined,
    until: (fits) =>
      new Promise((resolve) => {
        const look = (call: SeenCall) => {
          if (!fits(call)) return
          waiters.delete(look)
          resolve()
        }
        waiters.add(look)
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  function answer(call: SeenCall, authorization: string | undefined, response: ServerResponse): void {
    const interference = service.interfere(call)
    service.calls.push(call)
    if (interference === 'hang') return
    if (interference === 'cut') response.destroy()
    else if (interference !== undefined) send(response, refusalOf(interference))
    else send(response, authorization === `Bearer ${service.token}` ? keep(service, call) : { status: 401 })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request).catch(() => '')
    const { method = '', url = '', headers } = request
    const call = { method, path: url, body, contentType: headers['content-type'] ?? '' }
    answer(call, headers.authorization, response)
    for (const look of waiters) look(call)
  }

  return service
}
