// What the steps of a trace cost: a loop of ten calls by the program as it is, and by the same program without steps, in turns.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchFamilyCpu } from './family-cpu.ts'
import { percentile, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'
import { createTasks } from './tasks.ts'

const pairs = Number(process.env.BENCH_PAIRS ?? 15)
/** Of one half of a pair: the CPU time of processes is counted in ticks of 10 ms. */
const tasksAtOnce = 8

const prompt = ['save seven words of text to a.txt', ...Array.from({ length: 8 }, () => 'read a.txt'), 'say done']
const spec = { type: 'ai', ai: { providerRef: { name: 'demo' }, model: 'demo', prompt: prompt.join(' then ') } }

const head = /function createTrace\(\{[^}]*\}\) \{\n/g
const nothing = "return { begin: () => ({ id: '0', end() {} }), finish: async () => [] };\n"

/** A copy of the built program whose runs note no step. */
function layWithout(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-without-'))
  cpSync(program, folder, { recursive: true, verbatimSymlinks: true })
  let changed = 0
  for (const name of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue
    const path = join(folder, 'dist', name)
    const text = readFileSync(path, 'utf8')
    const without = text.replace(head, (found) => `${found}${nothing}`)
    if (without !== text) changed += 1
    writeFileSync(path, without)
  }
  if (changed < 2) throw new Error('the worker or the service has no place to take the steps out of')
  return folder
}

async function open(program: string): Promise<RunningService> {
  const service = await startService([], undefined, program)
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } })
  const answer = await fetch(`${service.url}/api/v1/providers`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
  return service
}

/** Looks seldom: looking is not what is measured. */
async function waitForEnd(service: RunningService, name: string): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { status } = await get<{ status?: { phase?: string; message?: string } }>(service, `tasks/${name}`)
    if (status?.phase === 'Succeeded') return
    if (status?.phase === 'Failed') throw new Error(`${name} failed: ${status.message}`)
  }
}

async function get<T>({ url, token }: RunningService, path: string): Promise<T> {
  const answer = await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })
  return (await answer.json()) as T
}

async function countSteps(service: RunningService, name: string): Promise<number> {
  return (await get<{ items: unknown[] }>(service, `tasks/${name}/trace?limit=500`)).items.length
}

/** CPU ms of one task, one after the other, with all that the service starts for it. */
async function timeSome(service: RunningService, prefix: string): Promise<number> {
  const family = watchFamilyCpu(service.pid)
  for (let index = 0; index < tasksAtOnce; index += 1) {
    await createTasks(service, 1, spec, `${prefix}-${index}`)
    await waitForEnd(service, `${prefix}-${index}-0`)
  }
  return family.stop() / tasksAtOnce
}

export async function run(): Promise<void> {
  const program = process.env.BENCH_PROGRAM ?? ''
  const folder = layWithout(program)
  const services = { with: await open(program), without: await open(folder) }
  const used: { with: number[]; without: number[] } = { with: [], without: [] }
  try {
    // The first pair fills the caches.
    for (let pair = 0; pair <= pairs; pair += 1) {
      const order = pair % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)
      for (const side of order) used[side].push(await timeSome(services[side], `pair-${pair}`))
    }
    const [ours, floor] = [used.with.slice(1), used.without.slice(1)]
    const more = ours.map((cpu, index) => 100 * (cpu / (floor[index] ?? 0) - 1))
    const row = (what: string, samples: number[], steps: number) => ({
      what,
      'CPU ms, median': round(percentile(samples, 0.5), 1),
      min: round(Math.min(...samples), 1),
      max: round(Math.max(...samples), 1),
      steps,
      tasks: samples.length * tasksAtOnce,
    })
    report('trace', [
      row('loop of ten calls, without steps', floor, await countSteps(services.without, 'pair-1-0-0')),
      row('loop of ten calls', ours, await countSteps(services.with, 'pair-1-0-0')),
    ])
    const sum = (samples: number[]) => samples.reduce((total, one) => total + one, 0)
    console.log(
      `pair by pair, median: ${round(percentile(more, 0.5), 1)}% more CPU; of all: ${round(100 * (sum(ours) / sum(floor) - 1), 1)}%`,
    )
  } finally {
    await services.with.stop()
    await services.without.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
