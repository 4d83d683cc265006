// What every provider of execution workspaces does.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import {
  type CommandState,
  type ExecutionWorkspaces,
  type ListedWorkspace,
  type WorkspaceClaim,
  type WorkspaceCommand,
  WorkspaceError,
} from '../../src/ports/workspaces/execution-workspaces.ts'
import { absolutePaths, innerPaths, loosePaths, outerPaths } from '../fixtures/inner-paths.ts'

export type WorkspaceBench = {
  workspaces: ExecutionWorkspaces
  /** Where claims are made. */
  namespace: string
  /** One that is ready to be used; it has sh, base64, cat, sleep and setsid. */
  template: ResourceKey
  /** How long making one may take. */
  readyMs: number
  close(): Promise<void>
}

type Ended = Extract<CommandState, { phase: 'Ended' }>

let named = 0

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

export function describeExecutionWorkspaces(name: string, open: () => Promise<WorkspaceBench>): void {
  describe(`execution workspaces of ${name}`, () => {
    let bench: WorkspaceBench
    beforeAll(async () => {
      bench = await open()
    }, 120_000)
    afterAll(() => bench?.close())

    function nameClaim(changes: Partial<WorkspaceClaim> = {}): WorkspaceClaim {
      named += 1
      const { namespace, template } = bench
      return { name: `svc-ws-${process.pid}-${named}`, namespace, template, labels: { 'svc.ai/task': 't' }, ...changes }
    }

    async function wait(claim: WorkspaceClaim) {
      return bench.workspaces.waitUntilReady(claim, {
        timeoutMs: bench.readyMs,
        signal: new AbortController().signal,
      })
    }

    async function make() {
      const claim = nameClaim()
      await bench.workspaces.claim(claim)
      return { claim, ready: await wait(claim) }
    }

    async function start(claim: WorkspaceClaim, script: string, changes: Partial<WorkspaceCommand> = {}) {
      named += 1
      const command = {
        id: `c-${named}`,
        command: ['sh', '-c', script],
        env: {},
        timeoutSeconds: 60,
        maxOutputBytes: 1_000_000,
        ...changes,
      }
      await bench.workspaces.start(claim, command)
      return command
    }

    async function finish(claim: WorkspaceClaim, { id }: WorkspaceCommand): Promise<Ended> {
      for (;;) {
        const state = await bench.workspaces.observeCommand(claim, id)
        if (state.phase === 'Ended') return state
        expect(state.phase).toBe('Running')
        await sleep(20)
      }
    }

    async function run(claim: WorkspaceClaim, script: string, changes: Partial<WorkspaceCommand> = {}): Promise<Ended> {
      return finish(claim, await start(claim, script, changes))
    }

    async function listAll(): Promise<ListedWorkspace[]> {
      const all: ListedWorkspace[] = []
      for await (const listed of bench.workspaces.list()) all.push(listed)
      return all
    }

    const listNames = async () => (await listAll()).map((listed) => listed.claim.name)

    async function failureOf(work: Promise<unknown>): Promise<string> {
      const error = await work.then(
        () => undefined,
        (failure: unknown) => failure,
      )
      expect(error).toBeInstanceOf(WorkspaceError)
      return (error as WorkspaceError).reason
    }

    it('are made by claims, listed, and deleted without a trace; both may be repeated', async () => {
      const claim = nameClaim()
      expect(await bench.workspaces.observe(claim)).toEqual({ phase: 'Absent' })
      await bench.workspaces.claim(claim)
      await bench.workspaces.claim(claim)
      const ready = await wait(claim)
      expect(ready.reused).toBe(false)
      expect(ready.root).toMatch(/^\//)
      expect(await bench.workspaces.observe(claim)).toEqual({ phase: 'Ready' })
      const listed = await listAll()
      const own = listed.filter((one) => one.claim.name === claim.name)
      expect(own).toMatchObject([
        { claim: { namespace: claim.namespace, template: claim.template }, state: { phase: 'Ready' } },
      ])
      await bench.workspaces.delete(claim)
      await bench.workspaces.delete(claim)
      expect(await bench.workspaces.observe(claim)).toEqual({ phase: 'Absent' })
      expect(await listNames()).not.toContain(claim.name)
    })

    it('run commands with their variables, input, folder and exit code', async () => {
      const { claim, ready } = await make()
      const told = await run(claim, 'echo "$TOLD in $PWD"; cat; echo wrong >&2; exit 3', {
        env: { TOLD: 'a "quoted" $value\nin two lines' },
        stdin: Buffer.from('the input'),
      })
      expect(told).toMatchObject({ exitCode: 3, stderr: 'wrong\n', truncated: false })
      expect(told.stdout).toBe(`a "quoted" $value\nin two lines in ${ready.root}\nthe input`)
      await run(claim, 'mkdir -p below/it')
      expect((await run(claim, 'pwd', { workDir: 'below/it' })).stdout.trim()).toBe(`${ready.root}/below/it`)
      expect((await run(claim, 'kill -KILL $$')).exitCode).toBe(137)
      expect((await run(claim, '', { command: ['no-such-program'] })).exitCode).not.toBe(0)
      await bench.workspaces.delete(claim)
    })

    it('take files of any content, with their modes, and replace them', async () => {
      const { claim } = await make()
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_none, at) => at % 256))
      await bench.workspaces.stage(claim, [{ path: 'a/b/raw', bytes: Buffer.from('old'), mode: 0o644 }])
      await bench.workspaces.stage(claim, [
        { path: 'a/b/raw', bytes, mode: 0o600 },
        { path: 'a/run', bytes: Buffer.from('#!/bin/sh\necho ran'), mode: 0o700 },
        { path: 'empty', bytes: Buffer.alloc(0), mode: 0o600 },
      ])
      const read = await run(claim, 'base64 -w0 a/b/raw; ls -l a/b/raw | cut -c1-10 >&2')
      expect(Buffer.from(read.stdout, 'base64').equals(bytes)).toBe(true)
      expect(read.stderr.trim()).toBe('-rw-------')
      expect((await run(claim, './a/run; wc -c <empty')).stdout.replaceAll(' ', '')).toBe('ran\n0\n')
      await bench.workspaces.delete(claim)
    })

    it('take a file by every path inside themselves', async () => {
      const { claim } = await make()
      const files = [...innerPaths.map((path) => [path, path]), ...Object.entries(loosePaths)]
      for (const [path = '', inner = ''] of files) {
        await bench.workspaces.stage(claim, [{ path, bytes: Buffer.from(path), mode: 0o600 }])
        expect(await run(claim, '', { command: ['cat', `./${inner}`] }), path).toMatchObject({ stdout: path })
      }
      await bench.workspaces.delete(claim)
    })

    it('take no file outside themselves', async () => {
      const { claim } = await make()
      for (const path of ['', '.', ...outerPaths, ...absolutePaths]) {
        const staged = bench.workspaces.stage(claim, [{ path, bytes: Buffer.from('x'), mode: 0o600 }])
        expect(await failureOf(staged)).toBe('ProtocolError')
      }
      await bench.workspaces.delete(claim)
    })

    it('start a command once, however often it is started', async () => {
      const { claim } = await make()
      const command = await start(claim, 'echo begun >>begun; cat begun')
      await bench.workspaces.start(claim, command)
      expect((await finish(claim, command)).stdout).toBe('begun\n')
      await bench.workspaces.start(claim, command)
      expect((await finish(claim, command)).stdout).toBe('begun\n')
      expect(await bench.workspaces.observeCommand(claim, 'never')).toEqual({ phase: 'Missing' })
      await bench.workspaces.delete(claim)
    })

    it('keep as much of the output as is wanted, and end what takes too long', async () => {
      const { claim } = await make()
      const flood = await run(claim, 'head -c 3000000 /dev/zero | tr "\\0" x; echo end >&2', { maxOutputBytes: 1000 })
      expect(flood).toMatchObject({ exitCode: 0, stdout: 'x'.repeat(1000), stderr: 'end\n', truncated: true })
      const slow = await run(claim, 'sleep 600', { timeoutSeconds: 1 })
      expect(slow.exitCode).toBe(124)
      await bench.workspaces.delete(claim)
    })

    it('stop a command with all that it has started, also what ignores TERM', async () => {
      const { claim } = await make()
      const stubborn = "trap '' TERM; while :; do echo . >>beats; sleep 0.05; done"
      const command = await start(claim, `setsid sh -c "${stubborn}" & ${stubborn}`)
      while ((await run(claim, 'cat beats 2>&1')).exitCode !== 0) await sleep(20)
      await bench.workspaces.stop(claim, command.id)
      await bench.workspaces.stop(claim, command.id)
      await bench.workspaces.stop(claim, 'never')
      expect((await finish(claim, command)).exitCode).not.toBe(0)
      const { stdout: before } = await run(claim, 'wc -c <beats')
      await sleep(300)
      expect((await run(claim, 'wc -c <beats')).stdout).toBe(before)
      await bench.workspaces.delete(claim)
    }, 60_000)

    it('are scrubbed of what was private and of what was left running, and of nothing else', async () => {
      const { claim } = await make()
      const secret = `secret-${Math.random()}`
      await bench.workspaces.stage(claim, [{ path: '.svc/one/token', bytes: Buffer.from(secret), mode: 0o600 }])
      await run(claim, 'mkdir -p work .svc/one/tmp; cp .svc/one/token .svc/one/tmp/copy; echo kept >work/kept')
      await run(claim, '(setsid sh -c "while :; do echo . >>beats; sleep 0.05; done" >/dev/null 2>&1 &)')
      await bench.workspaces.scrub(claim, ['.svc/one', 'work/none'])
      await bench.workspaces.scrub(claim, ['.svc/one', 'work/none'])
      const found = await run(claim, 'grep -rF -f - . ; cat work/kept', { stdin: Buffer.from(`${secret}\n`) })
      expect(found.stdout).toBe('kept\n')
      const { stdout: before } = await run(claim, 'wc -c <beats')
      await sleep(200)
      expect((await run(claim, 'wc -c <beats')).stdout).toBe(before)
      await bench.workspaces.delete(claim)
    })

    it('let programs go on that a command has left, until they are scrubbed', async () => {
      const { claim } = await make()
      const left = 'setsid sh -c "while :; do echo . >>beats; sleep 0.05; done" >/dev/null 2>&1 &'
      const command = await start(claim, `${left} echo told; echo wrong >&2; exit 5`, { leavesPrograms: true })
      expect(await finish(claim, command)).toMatchObject({ exitCode: 5, stdout: 'told\n', stderr: 'wrong\n' })
      const count = async () => Number((await run(claim, 'cat beats 2>/dev/null | wc -l')).stdout)
      const soon = await count()
      while ((await count()) < soon + 5) await sleep(20)
      expect(await finish(claim, command)).toMatchObject({ exitCode: 5, stdout: 'told\n' })
      await bench.workspaces.scrub(claim, [])
      const before = await count()
      await sleep(200)
      expect(await count()).toBe(before)
      await bench.workspaces.delete(claim)
    })

    it('keep their files while they are suspended', async () => {
      const { claim } = await make()
      await run(claim, 'mkdir -p work; echo kept >work/kept')
      const left = await start(claim, 'sleep 600')
      await bench.workspaces.suspend(claim)
      await bench.workspaces.suspend(claim)
      expect(await bench.workspaces.observe(claim)).toEqual({ phase: 'Suspended' })
      expect((await bench.workspaces.observeCommand(claim, left.id).catch(() => undefined))?.phase).not.toBe('Running')
      await bench.workspaces.claim(claim)
      const again = await wait(claim)
      expect(again.reused).toBe(true)
      expect(again.resumeMs).toBeGreaterThanOrEqual(0)
      expect((await run(claim, 'cat work/kept')).stdout).toBe('kept\n')
      await bench.workspaces.delete(claim)
    }, 120_000)

    it('are nothing without their template, and not waited for in vain', async () => {
      const claim = nameClaim({ template: { ...bench.template, name: 'no-such-template' } })
      const asked = (async () => {
        await bench.workspaces.claim(claim)
        await wait(claim)
      })()
      expect(await failureOf(asked)).toBe('TemplateNotFound')
      await bench.workspaces.delete(claim)
      const late = nameClaim()
      await bench.workspaces.claim(late)
      const options = { timeoutMs: bench.readyMs, signal: AbortSignal.abort(new Error('cancelled')) }
      expect(await failureOf(bench.workspaces.waitUntilReady(late, options))).toBe('ClaimTimeout')
      await bench.workspaces.delete(late)
    })

    it('take their commands with them when they are deleted', async () => {
      const { claim } = await make()
      const command = await start(claim, 'sleep 600')
      await bench.workspaces.delete(claim)
      const state = await bench.workspaces.observeCommand(claim, command.id).catch((error: unknown) => error)
      if (!(state instanceof WorkspaceError)) expect(state).toEqual({ phase: 'Missing' })
      expect(await failureOf(start(claim, 'true'))).toBe('WorkspaceLost')
    })

    it('are apart from each other, also when many are made at once', async () => {
      const made = await Promise.all(Array.from({ length: 6 }, () => make()))
      await Promise.all(made.map(({ claim }) => run(claim, `echo ${claim.name} >mine`)))
      const seen = await Promise.all(made.map(({ claim }) => run(claim, 'cat mine')))
      expect(seen.map(({ stdout }) => stdout.trim())).toEqual(made.map(({ claim }) => claim.name))
      await Promise.all(made.map(({ claim }) => bench.workspaces.delete(claim)))
      const left = await listNames()
      expect(made.filter(({ claim }) => left.includes(claim.name))).toEqual([])
    }, 300_000)
  })
}
