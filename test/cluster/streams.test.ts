// The two streams of a command on a real cluster: apart in whatever image it runs, and with the ends it has by itself.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AttemptKey, WorkloadRun, WorkloadState, Workloads } from '../../src/ports/tasks/workloads.ts'
import { testIds } from '../contracts/embedded-bench.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { waitFor } from '../fixtures/time.ts'
import { bareImage, type ClusterBench, openClusterBench, testImage } from './workloads-bench.ts'

type Command = Extract<WorkloadRun, { kind: 'command' }>
type Ended = Extract<WorkloadState, { phase: 'Succeeded' | 'Failed' }>

describeOnCluster('the streams of a command', () => {
  let bench: ClusterBench
  beforeAll(async () => {
    bench = await openClusterBench()
  })
  afterAll(() => bench.close())

  const start = async (changed: Partial<Command>, on: Workloads = bench.workloads) => {
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run: Command = { kind: 'command', image: testImage, command: [], args: [], env: {}, ...changed }
    await on.ensure({ key, namespace: bench.namespace, taskName: key.taskUid, run, limits: {} })
    return key
  }
  const startScript = (script: string, changed: Partial<Command> = {}, on?: Workloads) =>
    start({ command: ['/bin/sh', '-c', script], ...changed }, on)
  const finish = async (key: AttemptKey) => {
    const state = await waitFor(async () => {
      const seen = await bench.workloads.observe(key)
      return (seen.phase === 'Succeeded' || seen.phase === 'Failed') && (seen as Ended)
    }, 'the attempt has ended')
    await bench.workloads.remove(key)
    return state
  }
  const linesOf = (key: AttemptKey) => bench.logs.get(key.taskUid) ?? []

  it('are both in the log, each in its order; stdout alone, byte by byte, is the result [TASK-051]', async () => {
    const steps = Array.from({ length: 20 }, (_, index) => `echo out ${index}; echo err ${index} >&2`)
    const key = await startScript(`${steps.join('; ')}; printf 'tab\\t\\303\\244 no end'; printf 'err no end' >&2`)
    const { output } = await finish(key)
    const numbered = (word: string) => Array.from({ length: 20 }, (_, index) => `${word} ${index}`)
    expect(output).toEqual({ text: `${numbered('out').join('\n')}\ntab\tä no end`, truncated: false })
    const errors = linesOf(key).filter((line) => line.startsWith('err'))
    expect(errors).toEqual([...numbered('err'), 'err no end'])
    expect(linesOf(key).filter((line) => !errors.includes(line))).toEqual([...numbered('out'), 'tab\tä no end'])
  })

  it('are complete for a command that writes a very long line, too', async () => {
    const key = await startScript('head -c 300000 /dev/zero | tr "\\0" x; echo; echo short >&2; echo after')
    const { output } = await finish(key)
    expect(output?.text).toBe(`${'x'.repeat(300_000)}\nafter\n`)
    expect(
      linesOf(key)
        .toSorted()
        .map((line) => line.slice(0, 10)),
    ).toEqual(['after', 'short', 'xxxxxxxxxx'])
  })

  it.each([
    ['exit 0', { phase: 'Succeeded' }],
    ['echo why >&2; exit 1', { reason: 'ExitCode', exitCode: 1, message: 'The container ended with exit code 1: why' }],
    ['exit 126', { reason: 'ExitCode', exitCode: 126 }],
    ['exit 127', { reason: 'ExitCode', exitCode: 127 }],
    ["sh -c 'kill -KILL $$'; exit $?", { reason: 'Signal', exitCode: 137 }],
  ])('do not change how a command ends: %s', async (script, end) => {
    expect(await finish(await startScript(script))).toMatchObject(end)
  })

  it.each([
    ['nowhere-to-be-found', 127, 'nowhere-to-be-found: not found'],
    ['/no/such/program', 127, '/no/such/program: No such file or directory'],
    ['/etc/passwd', 126, 'Permission denied'],
  ])('report a command that cannot be started, %s, as its own kind of failure', async (program, exitCode, words) => {
    const state = await finish(await start({ command: [program] }))
    expect(state).toMatchObject({ phase: 'Failed', reason: 'StartFailed', exitCode })
    expect(state).toHaveProperty('message', expect.stringMatching(`^The container could not be started: .*${words}`))
  })

  it('are separate in an image that has neither a shell nor a library', async () => {
    const told = await finish(await start({ image: bareImage, command: ['/ldconfig'], args: ['--version'] }))
    expect(told).toMatchObject({ phase: 'Succeeded', output: { text: expect.stringMatching(/^ldconfig/) } })
    const failed = await finish(await start({ image: bareImage, command: ['/ldconfig', '--nonsense'] }))
    expect(failed).toMatchObject({ reason: 'ExitCode', exitCode: 64, output: { text: '' } })
    expect(failed).toHaveProperty('message', expect.stringContaining('ldconfig'))
  })

  it('leave variables, arguments and the process list unchanged', async () => {
    const program =
      'console.log(JSON.stringify([process.env["a.b-c"], process.env.PLAIN, process.argv.slice(1), process.pid]))'
    const env = { 'a.b-c': '$(PLAIN)', PLAIN: '$$ "quoted"', BASH_ENV: '/no/such', LC_ALL: 'xx_XX.UTF-8' }
    const { output } = await finish(
      await start({ command: ['node', '-e', program], args: ['$(PLAIN)', "it's", '$1'], env }),
    )
    expect(JSON.parse(output?.text ?? '')).toEqual(['$(PLAIN)', '$$ "quoted"', ['$(PLAIN)', "it's", '$1'], 1])
  })

  it('are not waited for when a process that the command left behind holds them open', async () => {
    const key = await startScript('(trap "" HUP TERM; while :; do sleep 1; done) & echo parent')
    expect(await finish(key)).toMatchObject({ phase: 'Succeeded', output: { text: 'parent\n' } })
  })

  it('do not block an attempt that never opened them, though its pod stays for its files', async () => {
    // The loader then lists libraries and starts nothing.
    const key = await startScript('echo never', {
      env: { LD_TRACE_LOADED_OBJECTS: '1' },
      artifactsDir: '/workspace/out',
    })
    expect(await finish(key)).toMatchObject({ output: { text: '' } })
  })

  it('continue over a restart of the service, with each line stored once and in the right stream', async () => {
    const first = bench.restart()
    const script =
      'n=0; while [ $n -lt 60 ]; do n=$((n + 1)); echo "out $n"; echo "err $n" >&2; sleep 0.05; done; exit 3'
    const key = await startScript(script, {}, first)
    await waitFor(() => linesOf(key).length > 20, 'some lines came')
    await first.close()
    const soFar = linesOf(key).length
    const state = await finish(key)
    const numbered = (word: string) => Array.from({ length: 60 }, (_, index) => `${word} ${index + 1}`)
    expect(soFar).toBeLessThan(120)
    expect(linesOf(key).filter((line) => line.startsWith('out'))).toEqual(numbered('out'))
    expect(linesOf(key).filter((line) => line.startsWith('err'))).toEqual(numbered('err'))
    expect(state).toMatchObject({
      output: { text: `${numbered('out').join('\n')}\n` },
      message: 'The container ended with exit code 3: err 60',
    })
  })

  it('are mixed when the entry point of the image runs', async () => {
    const key = await start({ args: ['/bin/sh', '-c', 'echo out; echo err >&2'] })
    const { output } = await finish(key)
    expect(output?.text.split('\n').toSorted()).toEqual(['', 'err', 'out'])
  })
})
