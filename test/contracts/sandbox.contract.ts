// What every sandbox for untrusted commands does. Commands need sh, bash, cat, head, sleep and touch, nothing else.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { Sandbox, SandboxCommand, SandboxLimits } from '../../src/ports/workspaces/sandbox.ts'
import { innerPaths, unplainPaths } from '../fixtures/inner-paths.ts'
import { waitFor } from '../fixtures/time.ts'
import { findProcesses, makeFolder, removeFolder, testIds } from './embedded-bench.ts'

export type SandboxBench = {
  sandbox: Sandbox
  /** The kind that `check` must name. */
  kind: string
  /** Whether the number of processes and the memory of a whole tree can be limited here, and why not. */
  unlimited?: string
  /** Why no folder of this machine can be used in it. */
  noFolders?: string
  /** How long a command may take to begin, which its timeout includes; default: next to nothing. */
  startMs?: number
  close(): Promise<void>
}

const MEBIBYTE = 1024 * 1024
const limits: SandboxLimits = {
  timeoutMs: 60_000,
  memoryBytes: 128 * MEBIBYTE,
  cpuSeconds: 10,
  processes: 32,
  outputBytes: 64 * 1024,
  diskBytes: 4 * MEBIBYTE,
}

export function describeSandbox(name: string, open: () => Promise<SandboxBench>): void {
  describe(`sandbox: ${name}`, () => {
    let bench: SandboxBench
    let folder: string
    beforeAll(async () => {
      bench = await open()
      folder = makeFolder('sandbox-test')
    }, 60_000)
    afterAll(async () => {
      await bench.close()
      removeFolder(folder)
    })

    const run = (command: Partial<SandboxCommand>, changed: Partial<SandboxLimits> = {}, signal?: AbortSignal) =>
      bench.sandbox.run(
        { argv: ['bash'], ...command, limits: { ...limits, ...changed } },
        signal ?? new AbortController().signal,
      )
    const script = (text: string, changed: Partial<SandboxLimits> = {}) => run({ argv: ['bash', '-c', text] }, changed)

    it('reports its kind', async () => {
      expect(await bench.sandbox.check()).toMatchObject({ available: true, kind: bench.kind })
    })

    it('gives back output, errors and exit code, and hands over input and arguments', async () => {
      const command = { argv: ['bash', '-c', 'cat; echo "$1" >&2; exit 3', 'bash', 'a "b" $c'], stdin: 'from stdin' }
      const outcome = await run(command)
      expect(outcome).toMatchObject({ exitCode: 3, signal: null, stdout: 'from stdin', stderr: 'a "b" $c\n' })
      expect(outcome).toMatchObject({ stdoutTruncated: false, stderrTruncated: false, timedOut: false })
      expect(outcome.exceeded).toBeUndefined()
    })

    it('shows read-only files beside the workspace', async () => {
      const readOnlyFiles = { '/secrets/task/token': 'value-1', '/secrets/agent/id.pem': 'two\nlines' }
      const text =
        'cat /secrets/task/token /secrets/agent/id.pem; ls /secrets; echo x 2>/dev/null >> /secrets/task/token; cat /secrets/task/token'
      const outcome = await run({ argv: ['bash', '-c', text], readOnlyFiles })
      expect(outcome.stdout).toBe('value-1two\nlinesagent\ntask\nvalue-1')
    })

    it('puts files into the scratch folder, which is the working directory', async () => {
      const files = { 'main.sh': 'pwd; cat deep/er/data.txt', 'deep/er/data.txt': 'ünïcode\n' }
      expect(await run({ argv: ['bash', 'main.sh'], files })).toMatchObject({
        exitCode: 0,
        stdout: '/workspace\nünïcode\n',
      })
    })

    it('takes every file name inside the scratch folder', async () => {
      const files = Object.fromEntries(innerPaths.map((path) => [path, `${path}\n`]))
      const argv = ['cat', ...innerPaths.map((path) => `./${path}`)]
      expect(await run({ argv, files })).toMatchObject({ exitCode: 0, stdout: `${innerPaths.join('\n')}\n` })
    })

    it.each(unplainPaths)('refuses the file name %j', async (file) => {
      const error = await run({ files: { [file]: 'x' } }).catch((thrown: unknown) => thrown)
      expect(isSvcError(error, 'InvalidRequest')).toBe(true)
    })

    it('has an environment of its own, with the variables of the command', async () => {
      const { stdout } = await run({ argv: ['bash', '-c', 'set -o posix; set'], env: { GIVEN: 'yes' } })
      expect(stdout).toContain('GIVEN=yes')
      expect(stdout).toMatch(/^HOME=\/workspace$/m)
      expect(stdout).not.toMatch(/VITEST|npm_|NODE_/)
    })

    it('has no network: a listener on loopback is not reached [BUILT-020]', async () => {
      let connections = 0
      const server: Server = createServer(() => connections++)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      const outcome = await script(`exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`)
      server.close()
      expect(outcome.stdout).toBe('')
      expect(connections).toBe(0)
    })

    it('reads nothing of the host: no shadow file, no home, no folder of ours [BUILT-021, SAND-001]', async () => {
      writeFileSync(join(folder, 'data.db'), 'precious')
      const looks = [
        '/etc/shadow',
        join(folder, 'data.db'),
        '/root/.bashrc',
        '/proc/1/environ',
        '/etc/ssh/ssh_host_rsa_key',
      ]
      const { stdout } = await script(looks.map((path) => `cat ${path} 2>/dev/null | head -c 100`).join('; '))
      expect(stdout).not.toMatch(/precious|root:|PRIVATE|VITEST/)
      expect((await script(`ls ${folder} ${process.cwd()}`)).exitCode).not.toBe(0)
    })

    it('writes nowhere but to its scratch folders [BUILT-021]', async () => {
      const places = ['/x', '/usr/x', '/usr/bin/x', '/etc/x', '/opt/x', '/proc/sys/kernel/core_pattern']
      // An engine gives each container a /dev of its own, in memory that counts as the container's.
      if (bench.kind !== 'container') places.push('/dev/x')
      const { stdout } = await script(
        `for p in ${places.join(' ')}; do (echo x > $p) 2>/dev/null && echo wrote $p; done; true`,
      )
      expect(stdout).toBe('')
      expect((await script('echo a > /workspace/a && echo b > /tmp/b && cat /workspace/a /tmp/b')).stdout).toBe(
        'a\nb\n',
      )
    })

    it('starts with an empty scratch folder each time', async () => {
      await script('echo left > trace.txt')
      expect((await script('echo *')).stdout).toBe('*\n')
    })

    it('works in an existing folder when one is given', async (context) => {
      context.skip(bench.noFolders !== undefined, bench.noFolders)
      const workspace = join(folder, 'given')
      mkdirSync(workspace)
      writeFileSync(join(workspace, 'in.txt'), 'in')
      await run({ argv: ['bash', '-c', 'cat in.txt > out.txt'], workspace })
      expect(readFileSync(join(workspace, 'out.txt'), 'utf8')).toBe('in')
    })

    it('does not follow symbolic links out of its folder, for reads and for the files it places', async (context) => {
      context.skip(bench.noFolders !== undefined, bench.noFolders)
      const workspace = join(folder, 'linked')
      mkdirSync(workspace)
      writeFileSync(join(folder, 'secret.txt'), 'precious')
      symlinkSync(join(folder, 'secret.txt'), join(workspace, 'read.txt'))
      symlinkSync(join(folder, 'new.txt'), join(workspace, 'main.sh'))
      symlinkSync(folder, join(workspace, 'up'))
      const command = { argv: ['bash', '-c', 'cat read.txt up/secret.txt'], workspace }
      const outcome = await run({ ...command, files: { 'main.sh': 'echo hello' } })
      expect(outcome.stdout).toBe('')
      expect(existsSync(join(folder, 'new.txt'))).toBe(false)
      const through = await run({ ...command, files: { 'up/planted.txt': 'x' } })
      expect(through.exitCode).not.toBe(0)
      expect(existsSync(join(folder, 'planted.txt'))).toBe(false)
    })

    it('cuts excessive output and says so [BUILT-022]', async () => {
      const outcome = await script('head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2; echo end', {
        outputBytes: 1000,
      })
      expect(outcome).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: true })
      expect([outcome.stdout.length, outcome.stderr.length]).toEqual([1000, 1000])
    })

    it('never splits a character at the cut', async () => {
      const outcome = await script('echo aää', { outputBytes: 4 })
      expect(outcome).toMatchObject({ stdout: 'aä', stdoutTruncated: true })
    })

    it('ends at the timeout, whatever the command does against it', async () => {
      const outcome = await script('trap "" TERM INT HUP; echo on; while :; do sleep 1; done', {
        timeoutMs: 3000 + (bench.startMs ?? 0),
      })
      expect(outcome).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL', stdout: 'on\n' })
      expect(outcome.exceeded).toBeUndefined()
    })

    it('ends a program that uses too much processor time [BUILT-022]', async () => {
      const outcome = await script('while :; do :; done', { cpuSeconds: 1 })
      expect(outcome).toMatchObject({ timedOut: false, exceeded: 'cpu' })
    })

    it('refuses writes beyond its disk limit [BUILT-022]', async () => {
      const outcome = await script('head -c 6000000 /dev/zero > big; exec cat big', { outputBytes: 10 * MEBIBYTE })
      expect(outcome.stdout.length).toBeLessThanOrEqual(limits.diskBytes)
      const tmp = await script('exec head -c 30000000 /dev/zero > /tmp/big')
      expect(tmp.exitCode).not.toBe(0)
    })

    it('leaves no process behind', async () => {
      const marker = testIds.next('svc-left-behind')
      await run({
        argv: ['bash', '-c', `(trap "" HUP TERM; exec -a ${marker} sleep 300) > /dev/null 2>&1 & echo started`],
      })
      await waitFor(() => findProcesses(marker).length === 0, 'nothing is left')
    })

    it('ends at once and rejects when the caller aborts', async () => {
      const marker = testIds.next('svc-aborted')
      const abort = new AbortController()
      const running = run({ argv: ['bash', '-c', `exec -a ${marker} sleep 300`] }, {}, abort.signal)
      const settled = running.then(
        () => 'ended',
        () => 'rejected',
      )
      await waitFor(() => findProcesses(marker).some((pid) => pid > 0), 'it runs')
      abort.abort(new Error('enough'))
      expect(await settled).toBe('rejected')
      await waitFor(() => findProcesses(marker).length === 0, 'nothing is left')
    })

    it('reports a missing program', async () => {
      expect(await run({ argv: ['no-such-program'] })).toMatchObject({ exitCode: 127, timedOut: false })
    })

    describe('as a whole', () => {
      it('bounds the number of processes [BUILT-022]', async (context) => {
        context.skip(bench.unlimited !== undefined, bench.unlimited)
        const forks = 'n=0; while [ $n -lt 200 ]; do sleep 30 & n=$((n + 1)); echo $n; done'
        const outcome = await run({ argv: ['sh', '-c', forks] })
        expect(Number(outcome.stdout.trim().split('\n').at(-1))).toBeLessThanOrEqual(limits.processes)
        expect(outcome.exitCode).not.toBe(0)
        expect(outcome.timedOut).toBe(false)
      })

      it('ends a program that uses too much memory [BUILT-022]', async (context) => {
        context.skip(bench.unlimited !== undefined, bench.unlimited)
        const outcome = await script('x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done')
        expect(outcome).toMatchObject({ timedOut: false, exceeded: 'memory' })
      })
    })
  })
}
