import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentJob, AgentProgram, SessionFile } from '../../agents/agent-runtime.ts'
import { llmoCliSession } from '../../agents/llmo-cli.ts'
import { maxProgramSessionBytes, type ProgramSession } from '../../contract/api/chat/program-sessions.ts'
import { createRedactor } from '../../observability/redaction.ts'
import { readLeftFiles } from '../../runtime/folders/left-files.ts'
import { restoreSession, type SessionLocation, saveSession, startWithSession } from './agent-session.ts'
import type { AgentEnd, AgentFailure } from './agent-verdict.ts'

const sessionFile: SessionFile = {
  locate: (id) => ({ folders: ['notes/early', 'notes/late'], ending: `-${id}.txt` }),
  restore: ({ id, text }, workFolder) => ({ [`notes/late/laid-${id}.txt`]: `${workFolder}: ${text}` }),
}

let home: string
let notes: string[]
let kept: [string, ProgramSession][]
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-session-'))
  for (const folder of ['notes/early', 'notes/late', 'other']) mkdirSync(join(home, folder), { recursive: true })
  notes = []
  kept = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function location(file: SessionFile | undefined = sessionFile): SessionLocation {
  const runtime = { command: 'it', install: 'it', prepare: () => expect.fail('it is not started') } as AgentProgram
  const note = (line: string) => void notes.push(line)
  return { runtime: { ...runtime, ...(file && { sessionFile: file }) }, model: 'p/m', home, workFolder: '/work', note }
}

async function keep(id: string | undefined, more: { fails?: boolean; file?: SessionFile } = {}): Promise<void> {
  const keepProgramSession = (model: string, session: ProgramSession) => {
    kept.push([model, session])
    return more.fails ? Promise.reject(new Error('no room')) : Promise.resolve()
  }
  const redact = createRedactor(['made-up-secret'])
  await saveSession({ api: { keepProgramSession }, readLeftFiles, redact }, location(more.file), id)
}

describe('the session that a program has written', () => {
  it('is kept without secrets, wherever it may lie', async () => {
    writeFileSync(join(home, 'notes/late/2-abc.txt'), 'it said made-up-secret é\n')
    writeFileSync(join(home, 'notes/early/2-other.txt'), 'another')
    await keep('abc')
    expect(kept).toEqual([['p/m', { id: 'abc', text: expect.stringMatching(/^it said (?!made-up).* é\n$/) }]])
    expect(notes).toEqual([])
  })

  it('is not kept when it is a link, lies behind a link, or is a folder', async () => {
    writeFileSync(join(home, 'other/1-abc.txt'), 'of somebody else')
    symlinkSync(join(home, 'other/1-abc.txt'), join(home, 'notes/early/1-abc.txt'))
    mkdirSync(join(home, 'notes/early/2-abc.txt'))
    rmSync(join(home, 'notes/late'), { recursive: true })
    symlinkSync(join(home, 'other'), join(home, 'notes/late'))
    await keep('abc')
    expect(kept).toEqual([])
  })

  it('is not kept when it is too large or no text', async () => {
    writeFileSync(join(home, 'notes/early/1-big.txt'), 'x'.repeat(maxProgramSessionBytes + 1))
    writeFileSync(join(home, 'notes/early/1-odd.txt'), Buffer.from([0xff, 0xfe]))
    await keep('big')
    await keep('odd')
    expect(kept).toEqual([])
    expect(notes).toEqual([expect.stringContaining('larger than 5 MiB'), expect.stringContaining('not kept')])
  })

  it('is not kept under a name that would be read as something else, or without one', async () => {
    writeFileSync(join(home, 'notes/early/1---last.txt'), 'x')
    for (const id of [undefined, '', '--last', '../abc', 'a/b', 'a b', 'x'.repeat(129)]) await keep(id)
    expect(kept).toEqual([])
  })

  it('may be lost without harm', async () => {
    writeFileSync(join(home, 'notes/early/1-abc.txt'), 'x')
    await keep('abc', { fails: true })
    expect(notes).toEqual([expect.stringContaining('no room')])
  })

  it('of Codex is found on the day of its id, and on the days beside it', async () => {
    const id = '01a207aa-2c42-7052-b829-19d20c3cda4a'
    const [laid = ''] = Object.keys(llmoCliSession.restore({ id, text: 'x' }, '/work'))
    expect(laid).toMatch(/^\.codex\/sessions\/2026\/11\/23\//)
    mkdirSync(join(home, '.codex/sessions/2026/11/22'), { recursive: true })
    writeFileSync(join(home, `.codex/sessions/2026/11/22/rollout-2026-11-22T23-30-00-${id}.jsonl`), 'of yesterday')
    await keep(id, { file: llmoCliSession })
    expect(kept).toMatchObject([['p/m', { id, text: 'of yesterday' }]])
    expect(() => llmoCliSession.locate('no-time-at-all', '/work')).not.toThrow()
  })
})

describe('a session that was kept', () => {
  it('is laid into the home', async () => {
    const api = { readProgramSession: () => Promise.resolve({ id: 'abc', text: 'hello' }) }
    expect(await restoreSession(api, location())).toBe('abc')
    expect(readFileSync(join(home, 'notes/late/laid-abc.txt'), 'utf8')).toBe('/work: hello')
  })

  it('is not missed: without one, or when it cannot be read, the run begins with the text', async () => {
    const nothing = { readProgramSession: () => Promise.resolve(undefined) }
    const broken = { readProgramSession: () => Promise.reject(new Error('not now')) }
    expect(await restoreSession(nothing, location())).toBeUndefined()
    expect(await restoreSession(broken, location())).toBeUndefined()
    expect(notes).toEqual([expect.stringContaining('not now')])
  })
})

describe('a run that goes on with a session', () => {
  const failed = (turns: number, reason: AgentFailure): AgentEnd => ({ ok: false, turns, reason, message: 'why' })
  const done: AgentEnd = { ok: true, turns: 1, result: 'done' }
  const job: AgentJob = {
    prompt: 'text and prompt',
    model: 'p/m',
    maxTurns: 2,
    allowBash: true,
    trustsFolder: false,
    workFolder: '/work',
    readFolders: [],
    home: '/home',
    proxy: { url: 'http://127.0.0.1:1', token: 'made-up' },
  }
  const resumed = { ...job, prompt: 'prompt', resume: 'abc' }
  const note = (line: string) => void notes.push(line)

  async function start(first: AgentEnd): Promise<{ end: AgentEnd; prompts: string[] }> {
    const prompts: string[] = []
    const end = await startWithSession(
      ({ prompt }) => {
        prompts.push(prompt)
        return Promise.resolve(prompts.length === 1 ? first : done)
      },
      { job, resumed, note },
    )
    return { end, prompts }
  }

  it('begins with the text where the program refuses the session', async () => {
    for (const reason of ['NoResult', 'AgentFailed'] as const)
      expect(await start(failed(0, reason))).toEqual({ end: done, prompts: ['prompt', 'text and prompt'] })
    expect(notes).toHaveLength(2)
  })

  it('ends as it ends once the model has spoken, and where the program was stopped', async () => {
    for (const first of [done, failed(1, 'AgentFailed'), failed(0, 'Stopped'), failed(0, 'Killed')])
      expect(await start(first)).toEqual({ end: first, prompts: ['prompt'] })
  })
})
