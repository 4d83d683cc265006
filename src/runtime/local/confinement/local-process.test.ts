import { getPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { findProcesses } from '../../../../test/fixtures/processes.ts'
import { probeBubblewrap } from './bubblewrap.ts'
import { launchConfined, launchPlain } from './local-process.ts'

const probe = await probeBubblewrap()

describe('a local process', () => {
  it('leaves the processor to the service, and what it starts does too', async () => {
    const argv = ['/bin/sh', '-c', 'read line; exec nice']
    const env = { PATH: '/usr/bin:/bin' }
    const process = launchPlain({ argv, folder: '/', env, withStdin: true, withReport: false })
    process.stdin?.end('go\n')
    const [said] = await Promise.all([text(process.stdout), process.exited])
    expect(Number(said)).toBe(Math.min(19, getPriority() + 5))
  })
})

describe.skipIf(!probe.available)('a sandbox', () => {
  // A mark that finds again what no test waits for: an init that has not begun.
  const seconds = 600_000 + Math.floor(Math.random() * 100_000)
  afterAll(() => {
    for (const pid of findProcesses(`sleep ${seconds}`)) process.kill(pid, 'SIGKILL')
  })
  const options = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc']

  it.each([0, 1, 2, 3, 4, 6, 8, 12, 16, 24])(
    'ends when its starter is killed after %i ms, whatever it was at',
    async (afterMs) => {
      if (!probe.available) return
      const { bubblewrap } = probe
      const launch = { bubblewrap, options, argv: ['/bin/sh', '-c', `echo up; exec sleep ${seconds}`] }
      const running = launchConfined({ ...launch, withStdin: false, withReport: true, hidesProcesses: true })
      const printed = Promise.all([text(running.stdout).catch(() => ''), text(running.stderr).catch(() => '')])
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      process.kill(running.pid ?? Number.NaN, 'SIGKILL')
      expect(await running.exited).toMatchObject({ signal: 'SIGKILL' })
      await printed
    },
  )
})
