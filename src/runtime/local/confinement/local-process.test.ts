import { getPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { launchPlain } from './local-process.ts'

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
