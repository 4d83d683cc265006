// Deliveries of the code host's webhook beside a bare route that checks the HMAC and makes one durable insert, at the rate of a busy
// organization and as many as go.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { agentLabel, deliver, describe, openService, type Sent, type Target } from './codehost-service.ts'
import { type Row, round } from './measure.ts'

const perMinute = 1000
const seconds = Number(process.env.BENCH_SECONDS ?? 30)
const burst = Number(process.env.BENCH_DELIVERIES ?? 2000)
/** A flood ends by itself, however slow the machine is. */
const longestFloodMs = 15_000
const callers = 16

type Flood = { perSecond: number; sent: Sent[] }

/** As many as go, by several callers. */
async function flood(target: Target, first: number): Promise<Flood> {
  const sent: Sent[] = []
  let next = 0
  const began = performance.now()
  const goesOn = () => next < burst && performance.now() - began < longestFloodMs
  const run = async () => {
    while (goesOn()) sent.push(await deliver(target, first + next++))
  }
  await Promise.all(Array.from({ length: callers }, run))
  return { perSecond: (sent.length * 1000) / (performance.now() - began), sent }
}

/** Each when it is due, however long the one before takes. */
export async function pace(target: Target, first: number, count: number): Promise<Sent[]> {
  const gapMs = 60_000 / perMinute
  const began = performance.now()
  const running: Promise<Sent>[] = []
  for (let at = 0; at < count; at += 1) {
    const wait = began + at * gapMs - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    running.push(deliver(target, first + at))
  }
  return Promise.all(running)
}

async function startFloor(secret: string): Promise<{ target: Target; child: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'floors', 'signed-insert.ts'), [secret])
  const { url } = await new Promise<{ url: string }>((resolve) => {
    child.once('message', (message) => resolve(message as { url: string }))
  })
  return { target: { url: `${url}/hook`, secret, label: agentLabel }, child }
}

function describeFlood(what: string, { perSecond, sent }: Flood): Row {
  return { what: `as many as go: ${what}`, count: sent.length, 'per second': round(perSecond), ...describe(sent) }
}

function describePace(what: string, sent: Sent[]): Row {
  const row = { what: `${perMinute} a minute: ${what}`, count: sent.length, 'per second': round(perMinute / 60) }
  return { ...row, ...describe(sent) }
}

/** The tasks start, as many at a time as usual, and end because there is no such repository. */
export async function measureRates(secret: string): Promise<Row[]> {
  const service = await openService()
  const floor = await startFloor(secret)
  const target = { url: `${service.url}/webhooks/codehost`, secret, label: agentLabel }
  const count = Math.round((seconds * perMinute) / 60)
  try {
    return [
      describePace('bare route', await pace(floor.target, 1, Math.ceil(count / 3))),
      describePace('a task each', await pace(target, 100_000, count)),
      describeFlood('bare route', await flood(floor.target, 1)),
      describeFlood('stored', await flood({ ...target, label: 'bug' }, 1)),
      describeFlood('a task each', await flood(target, 200_000)),
    ]
  } finally {
    floor.child.disconnect()
    await service.stop()
  }
}
