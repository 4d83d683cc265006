import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogLinePart } from '../log-stream.ts'
import { createRecordReader } from './launch.ts'
import { createPacer, createTagger } from './tagger.ts'

/** The log as lines, each with a moment of its own, in pieces of the size. */
function* cutLog(log: Buffer, size: number): Generator<LogLinePart> {
  let stamp = 0n
  for (let start = 0; start < log.length; ) {
    const end = log.indexOf(10, start) + 1
    stamp += 1n
    for (let at = start; at < end; at += size) {
      yield { stamp, bytes: log.subarray(at, Math.min(end, at + size)), isEnd: at + size >= end }
    }
    start = end
  }
}

function readBack(log: Buffer, size: number) {
  const reader = createRecordReader()
  const bytes = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  let over = 0
  for (const part of cutLog(log, size)) {
    const record = reader.take(part)
    if (record === 'over') over += 1
    else if (record !== undefined) bytes[record.stream].push(record.bytes)
  }
  return { stdout: Buffer.concat(bytes.stdout), stderr: Buffer.concat(bytes.stderr), over }
}

const written = {
  out: [Buffer.from('one\n\ntw'), Buffer.from('o\n'), Buffer.alloc(100_000, 'x'), Buffer.from('\nno end')],
  err: [Buffer.from([0xff, 0, 10, 0xc3]), Buffer.from('\r\n')],
}

describe('the tagged lines of two streams', () => {
  it.each([1, 2, 3, 1000, 1_000_000])('yield each stream byte by byte, read in pieces of %i', (size) => {
    const pieces: Buffer[] = []
    const [out, err] = (['1', '2'] as const).map((stream) => createTagger(stream, (bytes) => pieces.push(bytes)))
    for (const at of [0, 1, 2, 3]) {
      if (written.out[at]) out?.push(written.out[at])
      if (written.err[at]) err?.push(written.err[at])
    }
    out?.end()
    err?.end()
    const log = Buffer.concat(pieces)
    const { stdout, stderr } = readBack(log, size)
    expect(stdout.equals(Buffer.concat(written.out))).toBe(true)
    expect(stderr.equals(Buffer.concat(written.err))).toBe(true)
  })

  it('are complete even when a line is very long, and are passed on in small pieces', () => {
    const pieces: Buffer[] = []
    const tagger = createTagger('1', (bytes) => pieces.push(bytes))
    for (let at = 0; at < 1000; at += 1) tagger.push(Buffer.alloc(1000, 'y'))
    expect(Buffer.concat(pieces).length).toBeGreaterThan(980_000)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000)
  })

  it('are told from messages of the kubelet, and parsing resumes after a line without its end', () => {
    const reader = createRecordReader()
    expect(reader.take({ stamp: 1n, bytes: Buffer.from('failed to watch\n'), isEnd: true })).toBeUndefined()
    expect(reader.take({ stamp: 2n, bytes: Buffer.from('1 cut'), isEnd: false })).toMatchObject({ stream: 'stdout' })
    const next = reader.take({ stamp: 3n, bytes: Buffer.from('2 whole\n'), isEnd: true })
    expect(next).toMatchObject({ stream: 'stderr', bytes: Buffer.from('whole\n') })
  })
})

describe('the program that tags the streams', () => {
  let folder: string
  let program: ChildProcess
  let log: Promise<string>
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-streams-'))
    execFileSync('mkfifo', [join(folder, 'out'), join(folder, 'err')])
    const script = `import { tagStreams } from ${JSON.stringify(join(import.meta.dirname, 'tagger.ts'))}; tagStreams(${JSON.stringify(folder)})`
    program = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    log = text(program.stdout as NonNullable<ChildProcess['stdout']>)
  })
  afterEach(() => {
    program.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  const open = (name: string) => openSync(join(folder, name), 'w')
  const exited = () => (program.exitCode === null ? once(program, 'exit') : [program.exitCode])

  it('goes on after SIGTERM until both streams are closed, then writes its end record', async () => {
    const [out, err] = [open('out'), open('err')]
    writeSync(out, 'first\nlast')
    writeSync(err, 'bad\n')
    program.kill('SIGTERM')
    closeSync(out)
    closeSync(err)
    expect((await exited())[0]).toBe(0)
    const lines = (await log).split('\n')
    expect(lines.at(-2)).toBe('0')
    expect(lines.slice(0, -2).toSorted()).toEqual(['1 first', '1.last', '2 bad'])
  })

  it('ends on SIGTERM when nothing was ever written', async () => {
    // Opened for a moment only to know that the program is there.
    closeSync(openSync(join(folder, 'out'), 'w'))
    program.kill('SIGTERM')
    expect((await exited())[0]).toBe(0)
    expect(await log).toBe('')
  })

  it('does not block the command when nobody reads its log any more', async () => {
    const [out, err] = [open('out'), open('err')]
    log.catch(() => undefined)
    program.stdout?.destroy()
    for (let at = 0; at < 50; at += 1) writeSync(out, Buffer.alloc(10_000, 'z\n'))
    closeSync(out)
    closeSync(err)
    program.kill('SIGTERM')
    expect((await exited())[0]).toBe(0)
  })
})

describe('the pace of a log', () => {
  const mebibyte = 1024 ** 2

  it.each([
    ['a flood', 64, 0, 7 * 10_000],
    ['what is written at once', 8, 0, 0],
    ['a steady stream', 64, 2000, 0],
  ])('%s waits until the files can have been read', (_name, pieces, everyMs, waitedMs) => {
    let [time, waited] = [0, 0]
    const pause = (ms: number) => {
      time += ms
      waited += ms
    }
    const pace = createPacer({ now: () => time, pause })
    for (let piece = 0; piece < pieces; piece += 1) {
      time += everyMs
      pace(Buffer.alloc(mebibyte, 'x'))
    }
    expect(Math.abs(waited - waitedMs)).toBeLessThan(100)
  })

  it('counts what the runtime puts before each line', () => {
    let time = 0
    const pause = (ms: number) => {
      time += ms
    }
    const pace = createPacer({ now: () => time, pause })
    pace(Buffer.alloc(mebibyte, '\n'))
    expect(time).toBeGreaterThan(40_000)
  })
})
