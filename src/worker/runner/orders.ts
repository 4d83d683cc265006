// The orders of a runner, one a line of an answer that lasts; another one is asked for when it breaks off.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Client } from '../../client/client.ts'
import { RunnerOrder, readWork, runnerLimits } from '../../contract/api/tasks/runners.ts'
import { followSignals } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { tryParseJson } from '../../lib/json.ts'

type OrderSource = { client: Client; id: string; clock: Clock; signal: AbortSignal }

const againMs = 500

/** Resolves when the signal aborts. */
export async function followOrders(source: OrderSource, take: (order: RunnerOrder) => void): Promise<void> {
  const { clock, signal } = source
  while (!signal.aborted) {
    // Whatever broke: the lease decides how long it may go on.
    await readOrders(source, take).catch(() => undefined)
    await clock.sleep(againMs, signal).catch(() => undefined)
  }
}

async function readOrders({ client, id, signal }: OrderSource, take: (order: RunnerOrder) => void): Promise<void> {
  const silence = followSignals(signal)
  const timer = setTimeout(() => silence.abort(new Error('no line came')), runnerLimits.leaseMs)
  try {
    const response = await client.open(readWork, { params: { id }, signal: silence.signal })
    if (response.body === null) return
    const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
    for await (const line of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
      timer.refresh()
      // Orders of a later version are passed over.
      const order = line === '' ? undefined : RunnerOrder.safeParse(tryParseJson(line)).data
      if (order !== undefined) take(order)
    }
  } finally {
    clearTimeout(timer)
    silence.release()
  }
}
