import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { waitFor } from '../../../../test/fixtures/time.ts'

/** A service that starts groups of two programs, does what is asked with them, and is killed. */
const service = (work: string) => `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createProcessGuard } from ${JSON.stringify(join(import.meta.dirname, 'process-guard.ts'))}
const start = (env = {}) => spawn('/bin/sh', ['-c', 'sleep 600 & sleep 600'], { env, stdio: 'ignore', detached: true })
const guard = createProcessGuard()
${work}
process.kill(process.pid, 'SIGKILL')
`

async function runKilled(work: string): Promise<number[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', service(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(signal).toBe('SIGKILL')
  return said.trim().split('\n').map(Number)
}

function isThere(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

it('ends the groups that it watches when its service is killed, and leaves the others', async () => {
  const [one = 0, two = 0, three = 0] = await runKilled(`
const groups = [start(), start(), start()]
for (const each of groups) guard.watch(each)
guard.forget(groups[1])
guard.forget({ pid: 1 })
console.log(groups.map(({ pid }) => pid).join('\\n'))`)
  await waitFor(() => !isThere(one) && !isThere(three), 'both groups have ended')
  expect(isThere(two)).toBe(true)
  process.kill(-two, 'SIGKILL')
})

it('guards what there is already when it was ended itself', async () => {
  const [one = 0, two = 0] = await runKilled(`
import { listChildProcesses } from ${JSON.stringify(join(import.meta.dirname, 'local-process.ts'))}
const first = start()
guard.watch(first)
const [own] = listChildProcesses(process.pid).filter((pid) => pid !== first.pid)
process.kill(own, 'SIGKILL')
while (listChildProcesses(process.pid).includes(own)) await new Promise((resolve) => setTimeout(resolve, 5))
const second = start()
guard.watch(second)
console.log([first.pid, second.pid].join('\\n'))`)
  await waitFor(() => !isThere(one) && !isThere(two), 'both groups have ended')
})

it('ends what was started last, or has left its group for one of its own, by its mark', async () => {
  const [one = 0] = await runKilled(`
console.log(start(guard.prepare()).pid)`)
  await waitFor(() => !isThere(one), 'it has ended')
})
