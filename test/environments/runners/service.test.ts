// ai tasks of the built program share a process: what they see of one another, and what is left when it, or the service, is killed.
import { chownSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { nodeInside } from '../../../src/runtime/attempts/process-limits.ts'
import {
  readResults,
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../../fixtures/llm/scripted-vendor.ts'
import { readOfProcess } from '../../fixtures/processes.ts'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  getTask,
  makeFolder,
  readResult,
  removeFolder,
  type Service,
  type StartOptions,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

let folder: string
let service: Service
let vendor: ScriptedVendor
/** By prompt and number of the call in the conversation, how often the vendor was asked. */
let asked: Map<string, number>
let answer: (prompt: string, turn: number, request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>

beforeEach(async () => {
  folder = makeFolder()
  asked = new Map()
  vendor = await startVendor((request) => {
    const prompt = readText(request.messages.find(({ role }) => role === 'user')?.content)
    const turn = request.messages.filter(({ role }) => role === 'assistant').length
    const key = `${prompt} ${turn}`
    asked.set(key, (asked.get(key) ?? 0) + 1)
    return answer(prompt, turn, request)
  })
})
afterEach(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(folder)
})

async function open(options: StartOptions = {}): Promise<void> {
  service = await startService({ folder, ...options })
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'scripted' }
  await service.call('POST', '/api/v1/providers', { name: 'default', spec })
}

const submit = (name: string, more: object = {}) => createTask(service, name, { type: 'ai', prompt: name, ...more })
const listFamily = (pid: number): number[] => {
  const below = readOfProcess(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...below.flatMap(listFamily)]
}
const findRunners = () =>
  listFamily(service.process.pid ?? 0).filter((pid) => {
    const command = readOfProcess(pid, 'cmdline')
    return command.startsWith(nodeInside) && command.includes('--runner')
  })

async function killRunner(): Promise<void> {
  const [pid = 0] = await waitFor(() => findRunners().length > 0 && findRunners(), 'a runner')
  process.kill(pid, 'SIGKILL')
}

describe('tasks whose runner is killed', () => {
  it('again and again all succeed, and no answer that had come is asked for twice', async () => {
    const held = Promise.withResolvers<void>()
    answer = (prompt, turn) =>
      turn === 0
        ? [{ call: { name: 'file_write', args: { path: 'note.txt', content: prompt } } }]
        : [{ wait: held.promise }, { text: `done ${prompt}` }]
    await open()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const name of names) await submit(name)
    for (const round of [1, 2, 3, 4]) {
      await waitFor(() => names.every((name) => (asked.get(`${name} 1`) ?? 0) >= 1), 'all wait for their second answer')
      const before = names.filter((name) => asked.get(`${name} 1`) === round).length
      expect(before).toBeGreaterThan(0)
      await killRunner()
      await waitFor(async () => {
        const tasks = await Promise.all(names.map((name) => getTask(service, name)))
        const shared = tasks.filter(({ status }) => status?.isolation?.mode === 'shared')
        return shared.every(({ metadata: { name } }) => (asked.get(`${name} 1`) ?? 0) === round + 1)
      }, 'they ask again')
    }
    held.resolve()
    const ended = await Promise.all(names.map((name) => waitForPhase(service, name, 'Succeeded')))
    for (const { metadata, status } of ended) {
      expect(await readResult(service, metadata.name)).toBe(`done ${metadata.name}`)
      expect(asked.get(`${metadata.name} 0`)).toBe(1)
      expect(status?.interruptions ?? 0).toBe(0)
    }
    // Each kill sends one on alone, whose step began last; it is not killed again.
    const suspects = ended.filter(({ status }) => status?.isolation?.reason === 'Suspect')
    expect(suspects.length).toBeLessThanOrEqual(4)
  })
})

describe('tasks whose service ends', () => {
  it.each(['kill', 'stop'] as const)(
    'by %s go on with the next one, and nothing is left of the runner',
    async (how) => {
      const held = Promise.withResolvers<void>()
      answer = (prompt) => [{ text: 'begun' }, { wait: held.promise }, { text: `, done ${prompt}` }]
      await open()
      const names = ['a', 'b', 'c']
      for (const name of names) await submit(name)
      await waitFor(() => names.every((name) => asked.get(`${name} 0`) === 1), 'all stream')
      const [runner = 0] = findRunners()
      await service[how]()
      await waitFor(() => readOfProcess(runner, 'cmdline') === '', 'the runner ends with its service')
      await waitFor(() => vendor.aborted >= names.length, 'nobody listens to the vendor')
      held.resolve()
      service = await startService({ folder })
      for (const name of names) await waitForPhase(service, name, 'Succeeded')
    },
  )
})

describe('a task beside many', () => {
  const slow = { type: 'string', pattern: '^(a+)+$' }

  it('is cancelled alone', async () => {
    const held = Promise.withResolvers<void>()
    answer = async () => [{ wait: held.promise }, { text: 'done' }]
    await open()
    const names = Array.from({ length: 20 }, (_, at) => `many-${at}`)
    for (const name of names) await submit(name)
    await waitFor(() => names.every((name) => asked.get(`${name} 0`) === 1), 'all are at the model')
    await service.call('POST', '/api/v1/tasks/many-7/cancel')
    await waitForPhase(service, 'many-7', 'Cancelled')
    await waitFor(() => vendor.aborted === 1, 'its call is given up')
    held.resolve()
    for (const name of names.filter((other) => other !== 'many-7')) await waitForPhase(service, name, 'Succeeded')
  })

  it.each([
    ['an answer of 20 MiB', { text: 'x'.repeat(20 * 1024 ** 2) }, {}, /AnswerTooLong/],
    ['a pattern that takes for ever', { text: `"${'a'.repeat(40)}!"` }, { outputSchema: slow }, /UncheckedOutput/],
  ])('fails alone by %s, and its runner goes on', async (_what, step, ai, reason) => {
    const held = Promise.withResolvers<void>()
    answer = (prompt) => (prompt === 'evil' ? [step] : [{ wait: held.promise }, { text: 'done' }])
    await open()
    await submit('waits')
    await waitFor(() => asked.get('waits 0') === 1, 'it is at the model')
    const before = findRunners()
    await createTask(service, 'evil', { type: 'ai', ai: { prompt: 'evil', ...ai } })
    expect((await waitForPhase(service, 'evil', 'Failed')).status?.failureReason).toMatch(reason)
    held.resolve()
    await waitForPhase(service, 'waits', 'Succeeded')
    expect(findRunners()).toEqual(before)
  })

  it('has a process of its own where somebody asks for that, and says so', async () => {
    answer = () => [{ text: 'done' }]
    await open({ flags: ['--process-namespaces', 'strict'] })
    await submit('asks', { execution: { isolation: 'process' } })
    await submit('usual')
    const modes = async (name: string) => (await waitForPhase(service, name, 'Succeeded')).status?.isolation
    expect(await modes('asks')).toEqual({ mode: 'own', reason: 'TaskIsolation' })
    expect(await modes('usual')).toEqual({ mode: 'shared' })
    const ai = { prompt: 'strict', providerRef: { name: 'default', namespace: 'default' } }
    await service.call('POST', '/api/v1/tasks', {
      metadata: { name: 'strict', namespace: 'strict' },
      spec: { type: 'ai', ai },
    })
    const strict = await waitFor(async () => {
      const { body } = await service.call<Task>('GET', '/api/v1/tasks/strict?namespace=strict')
      return body.status?.phase === 'Succeeded' && body
    }, 'it succeeds')
    expect(strict.status?.isolation).toEqual({ mode: 'own', reason: 'NamespaceIsolation' })
  })
})

const isRoot = process.getuid?.() === 0
const users = isRoot ? [0, 65_534] : [process.getuid?.() ?? 0]

describe.each(users)('a task with evil code beside another, as user %i', (uid) => {
  it('sees neither its files nor its processes, and ends none of them', async () => {
    const code = [
      'ln -s / root; ln -s /attempts attempts; ln -s /proc/self/fd fds; mkdir artifacts; ln -s / artifacts/root',
      'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " | grep -o "VICTIM-[M]ARK"',
      'grep -rs "VICTIM-[M]ARK" /attempts /workspace /tmp /run /var/tmp /home /root 2>/dev/null',
      'ls -d /attempts /*/svc* 2>/dev/null',
      'kill -9 -1 2>/dev/null; echo end',
    ].join('\n')
    const paths = [
      'root/etc/passwd',
      'attempts',
      '/attempts',
      '/attempts/last-step',
      '../secret.txt',
      'fds/0',
      '/proc/1/environ',
    ]
    const held = Promise.withResolvers<void>()
    const results: Record<string, unknown>[] = []
    const work = 'echo VICTIM-MARK > secret.txt; while [ ! -e stop ]; do sleep 0.1; done # VICTIM-MARK'
    const victim = (turn: number): VendorAnswer =>
      turn === 0
        ? [{ call: { name: 'code_exec', args: { language: 'bash', code: work, timeout: 60 } } }]
        : [{ text: 'its code has ended' }]
    const attacker = (turn: number): VendorAnswer => {
      if (turn === 0) return [{ call: { name: 'code_exec', args: { language: 'bash', code } } }]
      if (turn === 1) return paths.map((path) => ({ call: { name: 'file_read', args: { path } } }))
      held.resolve()
      return [{ text: 'done' }]
    }
    answer = (prompt, turn, request) => {
      if (prompt === 'victim') return victim(turn)
      results.push(...readResults(request))
      return attacker(turn)
    }
    if (uid !== 0) chownSync(folder, uid, uid)
    await open({ uid })
    await submit('victim')
    await waitFor(
      () => listFamily(service.process.pid ?? 0).some((pid) => readOfProcess(pid, 'cmdline').includes('VICTIM-MARK')),
      'its code runs',
    )
    await submit('attacker')
    await held.promise
    const [seen, ...read] = results
    expect(String(seen?.output)).not.toContain('VICTIM-MARK')
    expect(String(seen?.output)).not.toContain('/attempts')
    expect(read).toHaveLength(paths.length)
    for (const result of read) expect(result.success).toBe(false)
    await waitForPhase(service, 'attacker', 'Succeeded')
    const { body } = await service.call<{ items: { filename: string }[] }>('GET', '/api/v1/tasks/attacker/artifacts')
    expect(JSON.stringify(body)).not.toContain('root')
    // Its code still runs.
    expect(asked.get('victim 1')).toBeUndefined()
    await service.call('POST', '/api/v1/tasks/victim/cancel')
    await waitForPhase(service, 'victim', 'Cancelled')
  })
})
