// Streams under load: how late the first frame comes, how many frames arrive, what it costs.
import { Pool } from 'undici'
import { percentile, round } from './measure.ts'

export type StreamLoad = {
  url: string
  path: string
  headers: Record<string, string>
  body: string
  concurrency: number
  total: number
}

export type StreamResult = {
  firstP50: number
  firstP99: number
  chunksPerSecond: number
  errors: number
  chunks: number
}

/** Each caller reads one stream after another to its end. Milliseconds. */
export async function generateStreams(load: StreamLoad): Promise<StreamResult> {
  const pool = new Pool(load.url, { connections: load.concurrency, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 })
  const firsts: number[] = []
  let next = 0
  let chunks = 0
  let errors = 0
  const read = async () => {
    const started = performance.now()
    const headers = { 'content-type': 'application/json', ...load.headers }
    const answer = await pool.request({ method: 'POST', path: load.path, headers, body: load.body })
    if (answer.statusCode !== 200) errors += 1
    let isFirst = true
    for await (const part of answer.body) {
      if (isFirst) firsts.push(performance.now() - started)
      isFirst = false
      for (let at = part.indexOf('\n\n'); at !== -1; at = part.indexOf('\n\n', at + 2)) chunks += 1
    }
  }
  const call = async () => {
    while (next++ < load.total) {
      await read().catch(() => {
        errors += 1
      })
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: load.concurrency }, call))
  const seconds = (performance.now() - started) / 1000
  await pool.destroy()
  const [firstP50, firstP99] = [0.5, 0.99].map((share) => round(percentile(firsts, share), 2))
  return {
    firstP50: firstP50 ?? 0,
    firstP99: firstP99 ?? 0,
    chunksPerSecond: Math.round(chunks / seconds),
    errors,
    chunks,
  }
}

/** Opens streams and leaves each after its first frame. */
export async function abandonStreams({ url, path, headers, body, concurrency, total }: StreamLoad): Promise<void> {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 })
  let next = 0
  const call = async () => {
    while (next++ < total) {
      const leaving = new AbortController()
      const all = { 'content-type': 'application/json', ...headers }
      const answer = await pool.request({ method: 'POST', path, headers: all, body, signal: leaving.signal })
      answer.body.once('data', () => leaving.abort())
      await new Promise((resolve) => answer.body.once('error', resolve).once('close', resolve))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, call))
  await pool.destroy()
}
