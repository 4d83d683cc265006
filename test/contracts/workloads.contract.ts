// What every place that runs attempts does, shown with commands of sh, sleep, head and yes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { AttemptKey, WorkloadLimits, WorkloadState, Workloads } from '../../src/ports/tasks/workloads.ts'
import { waitFor } from '../fixtures/time.ts'
import { findProcesses, testIds } from './embedded-bench.ts'

export type WorkloadsBench = {
  workloads: Workloads
  /** Attempts at the same time; the suite fills them all. Infinity where something else schedules. */
  places: number
  /** Where the attempts run; `default` when absent. */
  namespace?: string
  /** Bytes of output that are more than this place holds back; 20 million when absent. */
  flood?: number
  /** The image that commands run in; absent: none. */
  image?: string
  /** Lines that came, by task. */
  logs: Map<string, string[]>
  /** Called with each batch of lines, and awaited. */
  slowDown: { take?: (key: AttemptKey, lines: string[]) => Promise<void> }
  /** Why secrets cannot be shown as files here. */
  noSecretFiles?: string
  /** Why the memory of an attempt is not limited here. */
  unlimited?: string
  close(): Promise<void>
}

/** Half a million lines on a machine that does other things too. */
const floodMs = 50_000

type Ended = Extract<WorkloadState, { phase: 'Succeeded' | 'Failed' }>

function isEnded(state: WorkloadState): state is Ended {
  return state.phase === 'Succeeded' || state.phase === 'Failed'
}

function imageOf({ image }: WorkloadsBench): { image?: string } {
  return image === undefined ? {} : { image }
}

/** The files that can be kept, each with the bytes that were really read. */
async function readLeft(workloads: Workloads, key: AttemptKey): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for await (const file of workloads.readLeftFiles(key)) {
    if ('skipped' in file) continue
    sizes[file.name] = 0
    for await (const part of file.open()) sizes[file.name] = (sizes[file.name] ?? 0) + part.length
  }
  return sizes
}

export function describeWorkloads(name: string, open: () => Promise<WorkloadsBench>): void {
  describe(`workloads: ${name}`, () => {
    let bench: WorkloadsBench
    beforeAll(async () => {
      bench = await open()
    }, 60_000)
    afterAll(() => bench.close())

    const start = async (script: string, limits: WorkloadLimits = {}, command?: string[]) => {
      const key = { taskUid: testIds.next('uid'), attempt: 1 }
      const image = bench.image === undefined ? {} : { image: bench.image }
      const run = {
        kind: 'command' as const,
        ...image,
        command: command ?? ['/bin/sh', '-c'],
        args: command ? [] : [script],
        env: { GIVEN: 'yes' },
      }
      const taskName = `task-${key.taskUid}`
      await bench.workloads.ensure({ key, namespace: bench.namespace ?? 'default', taskName, run, limits })
      return key
    }
    const waitForEnd = (key: AttemptKey, timeoutMs?: number) => {
      const look = async () => {
        const state = await bench.workloads.observe(key)
        return isEnded(state) && state
      }
      return waitFor(look, 'the attempt has ended', timeoutMs)
    }
    const waitForLine = (key: AttemptKey, line: string) =>
      waitFor(() => bench.logs.get(key.taskUid)?.includes(line), `it has said ${line}`)
    const finish = async (key: AttemptKey) => {
      const state = await waitForEnd(key)
      await bench.workloads.remove(key)
      return state
    }

    it('gives a command its token as a file whose path a variable names, and keeps it out of the output', async () => {
      const key = { taskUid: testIds.next('uid'), attempt: 1 }
      const token = `opaque-${key.taskUid}`
      const script = [
        'test "$SVC_TRANSACTION_TOKEN_FILE" = "$SVC_CONTEXT_TOKEN_SUBJECT_TOKEN_FILE" && echo same',
        'echo "token: $(cat "$SVC_TRANSACTION_TOKEN_FILE")"',
        `t=$(cat "$SVC_TRANSACTION_TOKEN_FILE"); echo "length: \${#t}"`,
        'case "$(export -p)" in *opaque-*) echo leaked ;; *) echo clean ;; esac',
      ].join('; ')
      const image = bench.image === undefined ? {} : { image: bench.image }
      const command = { command: ['/bin/sh', '-c'], args: [script], env: {}, redact: [token], transactionToken: token }
      const run = { kind: 'command' as const, ...image, ...command }
      const taskName = `task-${key.taskUid}`
      const labels = { 'svc.ai/transaction-id': 'txn-1' }
      await bench.workloads.ensure({ key, namespace: bench.namespace ?? 'default', taskName, run, limits: {}, labels })
      const state = await finish(key)
      expect(state.output?.text.trim().split('\n')).toEqual([
        'same',
        'token: [REDACTED]',
        `length: ${token.length}`,
        'clean',
      ])
      expect(bench.logs.get(key.taskUid)?.join('\n')).not.toContain(token)
    })

    it('gives a command its secrets as read-only files', async (context) => {
      if (bench.noSecretFiles !== undefined) context.skip(bench.noSecretFiles)
      const key = { taskUid: testIds.next('uid'), attempt: 1 }
      const namespace = bench.namespace ?? 'default'
      const text = `value-${key.taskUid}`
      const script = `t=$(cat /secrets/task/id.pem); echo \${#t}; echo "is $t"; touch /secrets/task/x || echo kept`
      const image = bench.image === undefined ? {} : { image: bench.image }
      const run = {
        kind: 'command' as const,
        ...image,
        command: ['/bin/sh', '-c'],
        args: [script],
        env: {},
        redact: [text],
      }
      // Of another namespace, so that no Secret has to be there.
      const secret = { namespace: 'elsewhere', name: 'keys', folder: '/secrets/task', entries: { 'id.pem': text } }
      const taskName = `task-${key.taskUid}`
      await bench.workloads.ensure({ key, namespace, taskName, run, limits: {}, secrets: [secret] })
      const lines = (await finish(key)).output?.text.split('\n') ?? []
      expect(lines).toEqual(
        expect.arrayContaining([expect.stringMatching(new RegExp(`^ *${text.length}$`)), 'is [REDACTED]', 'kept']),
      )
    })

    it('runs a command to its success, with logs by line and stdout as output', async () => {
      const key = await start('echo one; echo two >&2; printf "three $GIVEN"')
      const state = await waitForEnd(key)
      expect(state).toMatchObject({ phase: 'Succeeded', output: { truncated: false } })
      expect(state.output?.text).toBe('one\nthree yes')
      expect(state.finishedAt.getTime()).toBeGreaterThanOrEqual((state.startedAt ?? new Date(Infinity)).getTime())
      expect([...(bench.logs.get(key.taskUid) ?? [])].sort()).toEqual(['one', 'three yes', 'two'])
      await bench.workloads.remove(key)
    })

    it('keeps the files of the artifacts folder after any end, and follows no link out of it', async () => {
      const key = { taskUid: testIds.next('uid'), attempt: 1 }
      const script = [
        'cd "$SVC_ARTIFACTS_DIR" && printf report > a.txt && head -c 300000 /dev/zero > b.bin',
        'ln -s /etc/passwd link && mkdir sub && echo x > sub/c && : > empty && echo ready; exit 3',
      ].join('; ')
      const artifactsDir = '/workspace/out'
      const command = { command: ['/bin/sh', '-c'], args: [script], env: { SVC_ARTIFACTS_DIR: artifactsDir } }
      const run = { kind: 'command' as const, ...imageOf(bench), ...command, artifactsDir }
      const spec = { key, taskName: `task-${key.taskUid}`, run, limits: {} }
      await bench.workloads.ensure({ ...spec, namespace: bench.namespace ?? 'default' })
      expect(await waitForEnd(key)).toMatchObject({ phase: 'Failed', reason: 'ExitCode', exitCode: 3 })
      expect(await readLeft(bench.workloads, key)).toEqual({ 'a.txt': 6, 'b.bin': 300_000, 'sub/c': 2, empty: 0 })
      await bench.workloads.remove(key)
      expect(await readLeft(bench.workloads, key)).toEqual({})
    })

    it('reports the exit code and the last lines of a command that fails', async () => {
      const state = await finish(await start('echo kept; echo "no such thing" >&2; exit 7'))
      const text = 'kept\n'
      expect(state).toMatchObject({ phase: 'Failed', reason: 'ExitCode', exitCode: 7, output: { text } })
      expect(state).toHaveProperty('message', expect.stringContaining('no such thing'))
    })

    it('finds nothing for an attempt that was never started, or was removed', async () => {
      expect(await bench.workloads.observe({ taskUid: 'never', attempt: 1 })).toEqual({ phase: 'Missing' })
      await bench.workloads.remove({ taskUid: 'never', attempt: 1 })
      const key = await start('true')
      await finish(key)
      expect(await bench.workloads.observe(key)).toEqual({ phase: 'Missing' })
    })

    it('keeps the end of an attempt until it is removed, and starts each attempt once', async () => {
      const key = await start('echo ran')
      await waitForEnd(key)
      const spec = { key, namespace: bench.namespace ?? 'default', taskName: 'again', limits: {} }
      await bench.workloads.ensure({
        ...spec,
        run: { kind: 'command', command: ['/bin/sh'], args: ['-c', 'echo twice'], env: {} },
      })
      expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded', output: { text: 'ran\n' } })
      await bench.workloads.remove(key)
    })

    it('tells attempts of one task apart', async () => {
      const first = await start('exit 1')
      expect(await bench.workloads.observe({ ...first, attempt: 2 })).toEqual({ phase: 'Missing' })
      await finish(first)
    })

    it('reports each change, with task and attempt', async () => {
      const seen: { key: AttemptKey; taskName: string; namespace: string }[] = []
      const leave = bench.workloads.onChange((change) => seen.push(change))
      const key = await start('true')
      await finish(key)
      leave()
      expect(seen.length).toBeGreaterThanOrEqual(2)
      expect(seen.every((change) => change.key.taskUid === key.taskUid && change.key.attempt === 1)).toBe(true)
      const namespace = bench.namespace ?? 'default'
      expect(seen[0]).toMatchObject({ namespace, taskName: `task-${key.taskUid}` })
    })

    it('accepts as many attempts as its capacity, and refuses more', async (context) => {
      context.skip(!Number.isFinite(bench.places), 'something else schedules here')
      expect(bench.workloads.capacity()).toBe(bench.places)
      const keys: AttemptKey[] = []
      for (let place = 0; place < bench.places; place++) keys.push(await start('exec sleep 300'))
      expect(bench.workloads.capacity()).toBe(0)
      const error = await start('true').catch((thrown: unknown) => thrown)
      expect(isSvcError(error, 'Unavailable')).toBe(true)
      await Promise.all(keys.map((key) => bench.workloads.remove(key)))
      expect(bench.workloads.capacity()).toBe(bench.places)
    })

    it('ends an attempt that ignores SIGTERM when it is removed, and leaves nothing of it', async () => {
      const marker = testIds.next('svc-stubborn')
      const key = await start(`trap "" TERM; echo deaf; while :; do sleep 1; : ${marker}; done`)
      await waitForLine(key, 'deaf')
      await bench.workloads.remove(key)
      expect(findProcesses(marker)).toEqual([])
      expect(await bench.workloads.observe(key)).toEqual({ phase: 'Missing' })
    })

    it('lets a command that handles SIGTERM end by itself', async () => {
      const key = await start('trap "echo goodbye; exit 0" TERM; echo ready; while :; do sleep 0.05; done')
      await waitForLine(key, 'ready')
      await bench.workloads.remove(key)
      expect(bench.logs.get(key.taskUid)).toContain('goodbye')
    })

    it('ends an attempt at its deadline and gives that as the reason', async () => {
      const state = await finish(await start('trap "" TERM; while :; do sleep 0.1; done', { deadlineSeconds: 0.5 }))
      expect(state).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
    })

    it('ends the processes that a command left behind', async () => {
      const marker = testIds.next('svc-daemon')
      const key = await start(
        `(trap "" HUP TERM; while :; do sleep 1; : ${marker}; done) > /dev/null 2>&1 & echo parent`,
      )
      expect(await waitForEnd(key)).toMatchObject({ phase: 'Succeeded' })
      await waitFor(() => findProcesses(marker).length === 0, 'nothing is left')
      await bench.workloads.remove(key)
    })

    it('keeps the last 5 MiB of stdout as the output, and writes all of it to the log', async () => {
      const key = await start(`yes $(printf %099d 0) | head -c 8000000; echo; echo the-end`)
      const state = await waitForEnd(key, floodMs)
      expect(state).toMatchObject({ phase: 'Succeeded', output: { truncated: true } })
      const text = state.output?.text ?? ''
      expect(text.length).toBe(5 * 1024 * 1024)
      expect(text.endsWith('\nthe-end\n')).toBe(true)
      await bench.workloads.remove(key)
    })

    it('lets a program write no faster than its lines are stored', async () => {
      const gate = Promise.withResolvers<void>()
      let [calls, atOnce, most] = [0, 0, 0]
      bench.slowDown.take = async () => {
        calls++
        most = Math.max(most, ++atOnce)
        await gate.promise
        atOnce--
      }
      const key = await start(`yes flood | head -c ${bench.flood ?? 20_000_000}; echo; echo over`)
      await waitFor(() => calls > 0, 'the first lines came')
      // They may come before its start has been noted.
      await waitFor(async () => (await bench.workloads.observe(key)).phase === 'Running', 'it runs')
      expect(calls).toBe(1)
      gate.resolve()
      expect(await finish(key)).toMatchObject({ phase: 'Succeeded' })
      delete bench.slowDown.take
      expect(most).toBe(1)
      expect(bench.logs.get(key.taskUid)?.at(-1)).toBe('over')
    })

    it('continues when lines cannot be stored', async () => {
      bench.slowDown.take = () => Promise.reject(new Error('the disk is full'))
      const state = await finish(await start('yes lost | head -c 1000000; echo kept'))
      delete bench.slowDown.take
      expect(state).toMatchObject({ phase: 'Succeeded' })
    })

    it('reports a missing command', async () => {
      const state = await finish(await start('', {}, ['/no/such/program']))
      expect(state).toMatchObject({ phase: 'Failed', message: expect.stringMatching(/not found|no such file/i) })
    })

    it('ends a command that needs more memory than its limit', async (context) => {
      context.skip(bench.unlimited !== undefined, bench.unlimited)
      const script = 'x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done'
      const state = await finish(await start(script, { memoryBytes: 64 * 1024 * 1024 }))
      expect(state).toMatchObject({
        phase: 'Failed',
        reason: 'OutOfMemory',
        message: expect.stringContaining('64 MiB'),
      })
    })
  })
}
