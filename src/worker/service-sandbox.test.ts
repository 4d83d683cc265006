import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CodeOutcome, CodeRun, workspaceLimits } from '../contract/api/workspaces/code-runs.ts'
import { SvcError } from '../errors.ts'
import { createServiceSandbox } from './service-sandbox.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-workspace-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const limits = {
  timeoutMs: 1000,
  memoryBytes: 1024 ** 3,
  cpuSeconds: 1,
  processes: 1,
  outputBytes: 1,
  diskBytes: 1,
}
const ended: CodeOutcome = {
  exitCode: 0,
  signal: null,
  stdout: 'out',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
  timedOut: false,
}
const inBase64 = (text: string) => Buffer.from(text).toString('base64')

/** A service that notes what it is asked for and gives the answer that a test has for it. */
function openSandbox(answer: Partial<CodeOutcome> = {}) {
  const runs: CodeRun[] = []
  const sandbox = createServiceSandbox({
    checkCode: async () => ({ languages: ['bash'] }),
    async runCode(run) {
      runs.push(CodeRun.parse(run))
      return { ...ended, ...answer }
    },
  })
  const run = (workspace?: string) =>
    sandbox.run({ argv: ['bash'], limits, ...(workspace && { workspace }) }, new AbortController().signal)
  return { sandbox, runs, run }
}

describe('the sandbox of a worker in a pod', () => {
  it('sends the files of the workspace along, without links', async () => {
    mkdirSync(join(root, 'in'))
    writeFileSync(join(root, 'in', 'data.csv'), 'a,b')
    writeFileSync(join(root, 'notes.txt'), 'hi')
    symlinkSync('/etc/passwd', join(root, 'link'))
    const { run, runs } = openSandbox()
    expect(await run(root)).toEqual(ended)
    expect(runs[0]?.workspaceFiles).toEqual([
      { path: 'in/data.csv', content: inBase64('a,b') },
      { path: 'notes.txt', content: inBase64('hi') },
    ])
  })

  it('does to the workspace what the code did: new files, other texts, files that went', async () => {
    writeFileSync(join(root, 'old.txt'), 'old')
    writeFileSync(join(root, 'was-file'), 'x')
    const written = [
      { path: 'artifacts/new/plot.txt', content: inBase64('plot') },
      { path: 'was-file/now-folder', content: inBase64('y') },
    ]
    const { run } = openSandbox({ changes: { written, removed: ['old.txt', 'was-file'] } })
    expect(await run(root)).toEqual(ended)
    expect(readFileSync(join(root, 'artifacts/new/plot.txt'), 'utf8')).toBe('plot')
    expect(readFileSync(join(root, 'was-file/now-folder'), 'utf8')).toBe('y')
    expect(existsSync(join(root, 'old.txt'))).toBe(false)
  })

  it('writes nothing outside the workspace, whatever the paths say', async () => {
    symlinkSync(tmpdir(), join(root, 'way-out'))
    const name = `svc-escaped-${process.pid}`
    const evil = [`../${name}`, `/tmp/${name}`, `a/../../${name}`].map((path) => ({ path, content: inBase64('x') }))
    await openSandbox({ changes: { written: evil, removed: ['../nothing'] } }).run(root)
    const linked = { written: [{ path: `way-out/${name}`, content: inBase64('x') }], removed: [] }
    await expect(openSandbox({ changes: linked }).run(root)).rejects.toThrow()
    expect(existsSync(join(tmpdir(), name))).toBe(false)
  })

  it('sends nothing where no folder is shared', async () => {
    writeFileSync(join(root, 'notes.txt'), 'hi')
    const { run, runs } = openSandbox()
    await run()
    expect(runs[0]?.workspaceFiles).toEqual([])
  })

  it('takes a workspace of 8 MiB and refuses a larger one in words', async () => {
    writeFileSync(join(root, 'big'), Buffer.alloc(workspaceLimits.bytes))
    const { run } = openSandbox()
    await run(root)
    writeFileSync(join(root, 'more'), 'x')
    await expect(run(root)).rejects.toMatchObject({ reason: 'TooLarge', message: expect.stringContaining('8 MiB') })
  })

  it('says so where the service runs no code, and that its answer was lost where it was', async () => {
    const away = createServiceSandbox({
      checkCode: () => Promise.reject(new SvcError('NotConfigured', 'no pods may be made')),
      runCode: () => Promise.reject(new Error('never asked')),
    })
    expect(await away.check()).toMatchObject({ available: false, reason: 'no pods may be made' })
    expect(await openSandbox().sandbox.check()).toEqual({ available: true, kind: 'pod', languages: ['bash'] })
    expect(await openSandbox({ changesLost: 'too much' }).run(root)).toMatchObject({ changesLost: 'too much' })
  })
})
