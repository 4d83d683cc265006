// A closed-loop load generator over one keep-alive pool: `concurrency` callers, each waiting for its answer.
import { Pool } from 'undici'
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

/** Sends `total` requests; answers other than `expect` count as errors. Milliseconds. */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(options.url, { connections: options.concurrency, pipelining: 1 })
  const samples: number[] = []
  let next = 0
  let errors = 0
  const call = async () => {
    while (next < options.total) {
      const request = options.request(next++)
      const started = performance.now()
      const answer = await pool.request({
        ...request,
        headers: { 'content-type': 'application/json', ...request.headers },
      })
      await answer.body.arrayBuffer()
      samples.push(performance.now() - started)
      if (answer.statusCode !== options.expect) errors += 1
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: options.concurrency }, call))
  const seconds = (performance.now() - started) / 1000
  await pool.close()
  return {
    perSecond: Math.round(options.total / seconds),
    p50: round(percentile(samples, 0.5), 2),
    p99: round(percentile(samples, 0.99), 2),
    errors,
  }
}
