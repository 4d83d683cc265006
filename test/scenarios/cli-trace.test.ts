// `svc task trace` and `svc session trace`: the tree of what was done, once and as it goes on.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TraceStep } from '../../src/contract/api/tasks/trace.ts'
import { readResults, type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { makeProvider } from './chat-client.ts'
import { runSvc, waitForPhase } from './service.ts'
import { useSharedService } from './shared-service.ts'

const shared = useSharedService('cli-trace')
const svc = (...args: string[]) => runSvc(args, shared.service.env)

let vendor: ScriptedVendor
let call: { name: string; args: object }
/** What the last answer of the vendor waits for. */
let gate: Promise<unknown>

beforeAll(async () => {
  vendor = await startVendor((request) =>
    readResults(request).length === 0 ? [{ call }] : [{ wait: gate }, { text: 'done' }],
  )
  await makeProvider(shared.service, 'default', vendor.url)
})
afterAll(() => vendor.close())

/** Lines of a tree, without times and bars. */
const namesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => /^ *[\w-]+(?: \d+)?/.exec(line)?.[0])

it('a task: attempt, calls of the model and tools below them, with tokens, times and bars', async () => {
  gate = Promise.resolve()
  call = { name: 'file_write', args: { path: 'a.txt', content: 'x' } }
  await shared.service.call('POST', '/api/v1/tasks', { name: 'traced', type: 'ai', prompt: 'write it' })
  await waitForPhase(shared.service, 'traced', 'Succeeded')
  const { code, stdout } = await svc('task', 'trace', 'traced')
  expect(code).toBe(0)
  const [attempt, ...steps] = stdout.trimEnd().split('\n')
  expect(attempt).toMatch(/^attempt 1 +[\d.]+ m?s █{24}$/)
  const [model, tool, last, ...more] = steps.filter((line) => !line.startsWith('  conversation saved '))
  for (const one of [model, last]) expect(one).toMatch(/^ {2}test-model, 20 in, 10 out +[\d.]+ m?s +█+$/)
  expect(tool).toMatch(/^ {4}file_write \{"path":"a.txt","content":"x"\} +[\d.]+ m?s +█+$/)
  expect(more).toEqual([])
  expect((await svc('task', 'trace', 'traced', '-f')).stdout).toBe(stdout)
  const other = await svc('task', 'trace', 'traced', '--attempt', '2')
  expect(other).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no steps of') })
})

it('a chat: its turns, one of them, and what comes until the turn has ended', async () => {
  gate = Promise.resolve()
  call = { name: 'list_agents', args: {} }
  await svc('chat', '-q', '--session', 'talk', 'who is here?')
  const tree = ['turn 1', '  test-model', '    list_agents', '  test-model']
  expect(namesIn((await svc('session', 'trace', 'talk')).stdout)).toEqual(tree)
  const open = Promise.withResolvers<void>()
  gate = open.promise
  const turn = svc('chat', '-q', '--session', 'talk', 'and now?')
  const read = async () => {
    const { stdout } = await svc('session', 'trace', 'talk', '--turn', '2', '-o', 'json')
    return (JSON.parse(stdout) as { items: TraceStep[] }).items
  }
  await expect.poll(async () => (await read()).length, { timeout: 20_000 }).toBeGreaterThan(2)
  const followed = svc('session', 'trace', 'talk', '-f', '--turn', '2')
  open.resolve()
  expect((await turn).code).toBe(0)
  expect(namesIn((await followed).stdout)).toEqual(tree.with(0, 'turn 2'))
  const lines = (await svc('session', 'trace', 'talk', '-f', '-o', 'json')).stdout.trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as TraceStep).attempt).toSorted()).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
  expect((await svc('session', 'trace', 'nobody')).code).not.toBe(0)
})
