import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LogLine, LogQuery } from '../../ports/tasks/outputs.ts'
import { createLogs } from './logs.ts'

async function collectLines(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const all: LogLine[] = []
  for await (const line of lines) all.push(line)
  return all
}

describe('log files', () => {
  let folder: string
  const clock = { now: () => new Date(36 ** 7) }
  const mark = '@10000000O'
  const key = { taskUid: 'task-1', attempt: 1 }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-logs-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const lastSegment = async () => {
    const names = (await readdir(join(folder, 'task-1'))).sort()
    return join(folder, 'task-1', names.at(-1) ?? '')
  }

  async function readTexts(): Promise<string[]> {
    const texts: string[] = []
    for await (const line of createLogs({ folder, clock }).read('task-1', {})) texts.push(`${line.seq} ${line.text}`)
    return texts
  }

  async function appendAfresh(lines: string[]): Promise<void> {
    const logs = createLogs({ folder, clock })
    await logs.append(key, lines)
    await logs.close()
  }

  it('ignore half a line left by a crash, and overwrite it', async () => {
    await appendAfresh(['one', 'two'])
    await appendFile(await lastSegment(), '1 half a li')
    expect(await readTexts()).toEqual(['1 one', '2 two'])
    await appendAfresh(['three'])
    expect(await readTexts()).toEqual(['1 one', '2 two', '3 three'])
    expect(await readFile(await lastSegment(), 'utf8')).toBe(`1${mark} one\n1${mark} two\n1${mark} three\n`)
  })

  it('have lines without marks from before there were any, which have neither time nor stream', async () => {
    await mkdir(join(folder, 'task-1'))
    await writeFile(join(folder, 'task-1', '0000000000000001.log'), '1 one\n2 a@b two\\nand more\n2 \n')
    await appendAfresh(['four'])
    const read = (query: LogQuery) => collectLines(createLogs({ folder, clock }).read('task-1', query))
    expect(await read({})).toEqual([
      { seq: 1, attempt: 1, text: 'one' },
      { seq: 2, attempt: 2, text: 'a@b two\nand more' },
      { seq: 3, attempt: 2, text: '' },
      { seq: 4, attempt: 1, text: 'four', time: 36 ** 7, stream: 'stdout' },
    ])
    expect((await read({ attempt: 2 })).map(({ seq }) => seq)).toEqual([2, 3])
    expect((await read({ since: new Date(0) })).map(({ seq }) => seq)).toEqual([4])
    expect((await read({ level: 'error' })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
  })

  it('ignore zeros left by a power cut', async () => {
    await appendAfresh(['one'])
    await appendFile(await lastSegment(), Buffer.concat([Buffer.alloc(4096), Buffer.from('1 lost\n')]))
    await appendAfresh(['two'])
    expect(await readTexts()).toEqual(['1 one', '2 two'])
  })

  it('go on after a segment that was created and never written', async () => {
    await appendAfresh(['one', 'two'])
    await writeFile(join(folder, 'task-1', '0000000000000003.log'), '')
    await appendAfresh(['three'])
    expect(await readTexts()).toEqual(['1 one', '2 two', '3 three'])
  })

  it('keep at most so many files open, and lose no line', async () => {
    let [opened, most] = [0, 0]
    const { open } = await import('node:fs/promises')
    const logs = createLogs({
      folder,
      clock,
      openTasks: 4,
      openFile: async (path) => {
        const handle = await open(path, 'a+')
        opened += 1
        most = Math.max(most, opened)
        const close = handle.close.bind(handle)
        handle.close = () => {
          opened -= 1
          return close()
        }
        return handle
      },
    })
    const uids = Array.from({ length: 40 }, (_, index) => `task-${index}`)
    for (const text of ['a', 'b']) {
      for (const taskUid of uids) await logs.append({ taskUid, attempt: 1 }, [text])
    }
    // Files are closed behind the writers' backs, so a few more are open for a moment.
    expect(most).toBeLessThan(20)
    await vi.waitFor(() => expect(opened).toBeLessThanOrEqual(4))
    await logs.close()
    expect(opened).toBe(0)
    for (const uid of uids) {
      expect(await readFile(join(folder, uid, '0000000000000001.log'), 'utf8')).toBe(`1${mark} a\n1${mark} b\n`)
    }
  })

  it('read the few lines of a follower without reading the segment from its start', async () => {
    const logs = createLogs({ folder, clock })
    const line = 'x'.repeat(99)
    await logs.append(
      key,
      Array.from({ length: 5000 }, () => line),
    )
    const segment = await lastSegment()
    const bytes = await readFile(segment)
    // What is before the place where the last lines begin may be anything.
    await writeFile(segment, bytes.fill('#\n', 0, 400_000))
    const texts: string[] = []
    for await (const { seq, text } of logs.read('task-1', { afterSeq: 4998 })) texts.push(`${seq} ${text}`)
    expect(texts).toEqual([`4999 ${line}`, `5000 ${line}`])
    await logs.close()
  })
})
