// A closed-loop load generator: `concurrency` callers, each with a kept connection of its own, each waiting for its answer.
import { Client, type Dispatcher } from 'undici'
import { percentile, round } from './measure.ts'

export type LoadRequest = { method: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: string }

export type LoadOptions = {
  url: string
  concurrency: number
  total: number
  /** The n-th request. */
  request: (index: number) => LoadRequest
  expect: number
}

export type LoadResult = { perSecond: number; p50: number; p99: number; errors: number }

/** The status, once the whole answer is there. Its bytes are not kept: the generator shares the machine with what it measures. */
function send(client: Client, { method, path, headers, body }: LoadRequest): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let status = 0
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => {},
    onResponseStart: (_controller, statusCode) => {
      status = statusCode
    },
    onResponseData: () => {},
    onResponseEnd: () => resolve(status),
    onResponseError: (_controller, error) => reject(error),
  }
  const all = { 'content-type': 'application/json', ...headers }
  client.dispatch({ method, path, headers: all, body: body ?? null }, handler)
  return promise
}

/** Sends `total` requests; answers other than `expect` count as errors. Milliseconds. */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const clients = Array.from({ length: options.concurrency }, () => new Client(options.url, { pipelining: 1 }))
  const samples: number[] = []
  let next = 0
  let errors = 0
  const call = async (client: Client) => {
    while (next < options.total) {
      const request = options.request(next++)
      const started = performance.now()
      const status = await send(client, request)
      samples.push(performance.now() - started)
      if (status !== options.expect) errors += 1
    }
  }
  const started = performance.now()
  await Promise.all(clients.map(call))
  const seconds = (performance.now() - started) / 1000
  await Promise.all(clients.map((client) => client.close()))
  return {
    perSecond: Math.round(options.total / seconds),
    p50: round(percentile(samples, 0.5), 2),
    p99: round(percentile(samples, 0.99), 2),
    errors,
  }
}
