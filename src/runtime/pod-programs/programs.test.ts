import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock as clock } from '../../lib/system-clock.ts'
import type { ProgramStart } from '../../ports/workspaces/sandbox.ts'
import { createProgramFrameReader, writeFrame } from './frames.ts'
import { hostProgram } from './host.ts'
import { createPodPrograms } from './programs.ts'

let folder: string
let ending: AbortController
let hosting: Promise<void>
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-host-'))
  path = join(folder, 'programs.sock')
  ending = new AbortController()
  hosting = hostProgram(path, ending.signal)
})
afterEach(async () => {
  ending.abort()
  await hosting
  rmSync(folder, { recursive: true, force: true })
})

const start = (script: string, more: Partial<ProgramStart> = {}) => {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', WORD: 'tulip' }
  const program = { argv: ['/bin/sh', '-c', script], folder, home: folder, env, ...more }
  return createPodPrograms({ path, clock }).start(program)
}

describe('a program in the container beside its worker', () => {
  it('reads, writes and ends as if it were here', async () => {
    const program = await start('read line; echo "$WORD $line $#"; echo to err >&2; cat; exit 3')
    program.stdin?.write('one\n')
    program.stdin?.end('two')
    expect(await Promise.all([text(program.stdout), text(program.stderr)])).toEqual(['tulip one 0\ntwo', 'to err\n'])
    expect(await program.exited).toEqual({ code: 3, signal: null })
  })

  it('hands on much, however slowly it is read', async () => {
    const program = await start('head -c 8000000 /dev/zero')
    let size = 0
    for await (const chunk of program.stdout) {
      size += (chunk as Buffer).length
      await clock.sleep(0)
    }
    expect(size).toBe(8_000_000)
    expect(await program.exited).toMatchObject({ code: 0 })
  })

  it('is ended with what it started', async () => {
    const program = await start('trap "echo asked; exit 0" TERM; sleep 600 & echo ready; wait')
    program.stdout.once('data', () => void program.terminate())
    expect(await text(program.stdout)).toContain('asked')
    expect(await program.exited).toMatchObject({ code: 0 })
  })

  it('is killed when it does not listen', async () => {
    const program = await start('trap "" TERM; echo ready; while :; do sleep 1; done')
    program.stdout.once('data', () => void program.terminate().then(program.kill))
    expect(await program.exited).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('says so when it cannot be started', async () => {
    const program = await start('true', { argv: [join(folder, 'nothing')] })
    expect(await program.exited).toMatchObject({ startError: expect.stringContaining('ENOENT') })
  })
})

describe('frames', () => {
  it('are read however they are cut', () => {
    const bytes = Buffer.concat([writeFrame(1, Buffer.from('abc')), writeFrame(2), writeFrame(0, Buffer.from('d'))])
    const read = createProgramFrameReader()
    const frames = [...bytes].flatMap((byte) => read(Buffer.from([byte])))
    expect(frames.map(({ type, body }) => [type, body.toString()])).toEqual([
      [1, 'abc'],
      [2, ''],
      [0, 'd'],
    ])
    expect(() => createProgramFrameReader()(Buffer.from([0, 255, 255, 255, 255]))).toThrow('bytes')
  })
})
