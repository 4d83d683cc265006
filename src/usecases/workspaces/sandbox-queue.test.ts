import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { Sandbox, SandboxCommand } from '../../ports/workspaces/sandbox.ts'
import type { ToolContext } from '../../tools/registry/tool.ts'
import { codeExec } from '../../tools/workspaces/code-exec.ts'
import { queueRuns } from './sandbox-queue.ts'

const outcome = { exitCode: 0, signal: null, stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false }

function openQueue(max: number) {
  const clock = createManualClock()
  const running: { command: SandboxCommand; end: () => void }[] = []
  const begun: (string | undefined)[] = []
  let maxRunning = 0
  const sandbox: Sandbox = {
    check: async () => ({ available: true, kind: 'none', languages: ['bash'] }),
    async run(command) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const one = { command, end: resolve }
      running.push(one)
      begun.push(command.caller)
      maxRunning = Math.max(maxRunning, running.length)
      await promise
      running.splice(running.indexOf(one), 1)
      return { ...outcome, timedOut: false }
    },
  }
  const queued = queueRuns(sandbox, { max, clock })
  const exec = (caller: string, signal = new AbortController().signal) =>
    codeExec.invoke(
      { language: 'bash', code: 'true', timeout: 40 },
      { sandbox: queued, sharesWorkspace: false, caller } as unknown as ToolContext,
      signal,
    )
  return { clock, running, begun, exec, maxRunning: () => maxRunning }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

async function endAll(running: { end: () => void }[]): Promise<void> {
  for (await settle(); running.length > 0; await settle()) running[0]?.end()
}

describe('runs of code', () => {
  it('of one caller who starts 160 take a limited number of slots, and another caller does not wait for them', async () => {
    const { running, begun, exec, maxRunning } = openQueue(4)
    const greedy = Array.from({ length: 160 }, () => exec('greedy'))
    await settle()
    expect(running).toHaveLength(3)
    const modest = [exec('modest'), exec('modest')]
    await settle()
    expect(begun).toEqual(['greedy', 'greedy', 'greedy', 'modest'])
    running.find(({ command }) => command.caller === 'greedy')?.end()
    await settle()
    expect(begun.at(-1)).toBe('modest')
    await endAll(running)
    const all = await Promise.all([...greedy, ...modest])
    expect(all.every(({ success }) => success)).toBe(true)
    expect(maxRunning()).toBe(4)
  })

  it('that get no slot within half of their time fail and say so, and the others have the rest of it', async () => {
    const { clock, running, exec } = openQueue(2)
    const first = [exec('a'), exec('b')]
    await settle()
    const [late, soon] = [exec('c'), exec('d')]
    await settle()
    clock.jump(5000)
    const leaving = new AbortController()
    const left = exec('e', leaving.signal)
    await settle()
    leaving.abort()
    expect(await left).toMatchObject({ success: false, errorType: 'cancelled' })
    running[0]?.end()
    await settle()
    expect(running.map(({ command }) => [command.caller, command.limits.timeoutMs])).toEqual([
      ['b', 40_000],
      ['c', 35_000],
    ])
    clock.jump(15_000)
    expect(await soon).toMatchObject({
      success: false,
      errorType: 'unavailable',
      error: expect.stringContaining('no sandbox was free within 20 s'),
    })
    await endAll(running)
    for (const one of [...first, late]) expect(await one).toMatchObject({ success: true })
  })

  it('of everybody share one slot where there is only one', async () => {
    const { running, exec } = openQueue(1)
    const both = [exec('a'), exec('a')]
    await settle()
    expect(running).toHaveLength(1)
    await endAll(running)
    for (const one of both) expect(await one).toMatchObject({ success: true })
  })

  it('that are already aborted never start', async () => {
    const { running, exec } = openQueue(1)
    expect(await exec('a', AbortSignal.abort())).toMatchObject({ success: false, errorType: 'cancelled' })
    expect(running).toEqual([])
  })
})
