// Cold start to ready, and memory: idle, with a waiting worker, and after load.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { percentile, report, residentMemory, round } from './measure.ts'
import { startService } from './service.ts'
import { createTasks, waitUntilFinished } from './tasks.ts'

const starts = 7

export async function run(): Promise<void> {
  const ours: number[] = []
  const floors: number[] = []
  const memories: number[] = []
  for (let round = 0; round < starts; round += 1) {
    floors.push(await timeFloor())
    const service = await startService()
    ours.push(service.readyAfter)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    memories.push(residentMemory(service.pid))
    await service.stop()
  }
  report('start', [
    { what: 'floor: bare fastify + zod + better-sqlite3, ms', median: median(floors), min: round(Math.min(...floors)) },
    { what: 'svc up to ready, ms', median: median(ours), min: round(Math.min(...ours)) },
    { what: 'service process idle, MiB', median: median(memories), min: round(Math.min(...memories)) },
    ...(await measureLoaded()),
  ])
}

async function measureLoaded() {
  const service = await startService()
  await createTasks(service, 300, { type: 'container', command: ['true'] })
  await waitUntilFinished(service, 300)
  const loaded = round(residentMemory(service.pid))
  await service.stop()
  return [{ what: 'service process after 300 tasks, MiB', median: loaded, min: loaded }]
}

function timeFloor(): Promise<number> {
  const started = performance.now()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'floors', 'bare-service.ts')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return new Promise((resolve) => {
    child.once('message', () => {
      resolve(performance.now() - started)
      child.disconnect()
    })
  })
}

function median(samples: number[]): number {
  return round(percentile(samples, 0.5))
}
