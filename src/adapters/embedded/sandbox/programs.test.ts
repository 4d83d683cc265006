import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { countsProcessesPerNamespace } from '../../attempts/process-limits.ts'
import { probeBubblewrap } from '../confinement/bubblewrap.ts'
import { createPrograms } from './programs.ts'

const probe = await probeBubblewrap()
const nodePath = process.execPath
const root = mkdtempSync(join(tmpdir(), 'svc-programs-'))
const [folder, home, other] = ['work', 'home', 'other'].map((name) => join(root, name)) as [string, string, string]
for (const each of [folder, home, other]) mkdirSync(each)
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function run(script: string): Promise<{ text: string; code: number | null }> {
  const programs = createPrograms({ nodePath, bubblewrap: Promise.resolve(probe) })
  const env = { PATH: '/usr/bin:/bin', GIVEN: 'given' }
  const program = await programs.start({ argv: ['/bin/sh', '-c', script], folder, home, env })
  let text = ''
  program.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  program.stderr.resume()
  program.stdin?.end('said')
  const { code } = await program.exited
  return { text, code }
}

describe.skipIf(!probe.available)('a program beside a worker, where bubblewrap can be had', () => {
  it('neither sees nor ends who started it', async () => {
    const { text } = await run(`kill -9 ${process.pid}; cat /proc/${process.pid}/environ; ls /proc/*/fd/3; echo lives`)
    expect(text).toBe('lives\n')
  })

  it('writes in its folder and its home only, and sees nothing beside them', async () => {
    const { text } = await run(
      `pwd; cat; echo $GIVEN; touch made ${home}/made; ls ${root}; touch ${other}/made /usr/made`,
    )
    expect(text).toBe(`${folder}\nsaidgiven\nhome\nwork\n`)
    expect([folder, home, other].map((each) => existsSync(join(each, 'made')))).toEqual([true, true, false])
  })

  it.skipIf(!countsProcessesPerNamespace(release()))('has a limit of processes', async () => {
    expect((await run('ulimit -p 2>/dev/null || ulimit -u')).text).toBe('512\n')
  })
})

describe('programs without a sandbox', () => {
  it('are told to be weaker, and why', async () => {
    const reason = 'bubblewrap is not installed'
    const bubblewrap = Promise.resolve({ available: false as const, reason, suggestion: 'install it' })
    expect(await createPrograms({ nodePath, bubblewrap }).findWeakness()).toBe(reason)
  })
})
