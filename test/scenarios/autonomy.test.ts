// Autonomous agents on the real program: iterations, the plan between them, a crash in the middle.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  getTask,
  launcher,
  readResult,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const hasScript = ['/usr/bin/script', '/bin/script'].some((path) => existsSync(path))

let service: Service
let vendor: ScriptedVendor
/** The first request of each iteration, by task. */
const opened = new Map<string, VendorRequest[]>()
/** Told when a model is asked in this iteration of the task; its answer waits for the promise. */
const held = new Map<string, Promise<void>>()

const userTextOf = (request: VendorRequest) => readText(request.messages.find(({ role }) => role === 'user')?.content)
const systemOf = (request: VendorRequest) => readText(request.messages.find(({ role }) => role === 'system')?.content)

const resultsOf = (request: VendorRequest) =>
  request.messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(readText(content)) as Record<string, unknown>)

/** Delegates and waits in the first iteration, and in the second one has reached its goal. */
function lead(request: VendorRequest, iteration: number): VendorAnswer {
  const results = resultsOf(request)
  const plan = (goal_complete: boolean) => ({ summary: 's', plan_document: 'd', goal_complete })
  const steps =
    iteration === 1
      ? [
          { name: 'delegate_task', args: { agent: 'leaf', prompt: 'leaf of the team' } },
          { name: 'wait_for_tasks', args: { tasks: [results[0]?.taskName] } },
          { name: 'update_plan', args: plan(false) },
        ]
      : [{ name: 'update_plan', args: plan(true) }]
  const call = steps[results.length]
  return call === undefined ? [{ text: `iteration ${iteration} is over` }] : [{ call }]
}

/** In each iteration: one call of update_plan, then an answer. `goal:NAME:LAST` says in which the goal is complete. */
async function answer(request: VendorRequest): Promise<VendorAnswer> {
  const [, name = '', last = '0'] = /goal:(\w+):(\d+)/.exec(userTextOf(request)) ?? []
  const number = Number(/This is iteration (\d+)/.exec(systemOf(request))?.[1])
  if (/^leaf/.test(userTextOf(request)))
    return [{ wait: held.get('leaf') ?? Promise.resolve() }, { text: 'the leaf is green' }]
  if (/^team/.test(userTextOf(request))) return lead(request, number)
  if (request.messages.some(({ role }) => role === 'tool')) return [{ text: `answer ${number} of ${name}` }]
  opened.set(name, [...(opened.get(name) ?? []), request])
  await held.get(`${name} ${number}`)
  const args = {
    summary: `part ${number}`,
    plan_document: `- [x] part ${number} of ${name}`,
    progress_pct: number * 10,
    goal_complete: number === Number(last),
  }
  return [{ call: { name: 'update_plan', args } }]
}

beforeAll(async () => {
  vendor = await startVendor(answer)
  service = await startService()
  await service.call('POST', '/api/v1/secrets', { name: 'vendor', stringData: { 'api-key': 'made-up-key-000000' } })
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', secretRef: { name: 'vendor', key: 'api-key' } }
  expect((await service.call('POST', '/api/v1/providers', { name: 'vendor', spec })).status).toBe(201)
  const coordination = { enabled: true, autonomous: true, maxIterations: 4 }
  const lead = { name: 'lead', spec: { providerRef: { name: 'vendor' }, coordination } }
  expect((await service.call('POST', '/api/v1/agents', lead)).status).toBe(201)
  expect(
    (await service.call('POST', '/api/v1/agents', { name: 'leaf', spec: { providerRef: { name: 'vendor' } } })).status,
  ).toBe(201)
  const team = { ...lead.spec, coordination: { ...coordination, allowedAgents: [{ name: 'leaf' }] } }
  expect((await service.call('POST', '/api/v1/agents', { name: 'team', spec: team })).status).toBe(201)
  const endless = { ...lead.spec, coordination: { ...coordination, maxIterations: 0 } }
  expect((await service.call('POST', '/api/v1/agents', { name: 'endless', spec: endless })).status).toBe(201)
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(service.folder)
})

const start = (name: string, last: number, spec: object = {}) =>
  createTask(service, name, { type: 'ai', prompt: `goal:${name}:${last}`, agentRef: { name: 'lead' }, ...spec })

type PlanRecord = { Iteration: number; Summary: string; GoalComplete: boolean }
const readPlan = async (name: string) => (await service.call<PlanRecord>('GET', `/api/v1/tasks/${name}/plan`)).body

describe('an autonomous agent', () => {
  it('works in iterations that know nothing of each other but the plan, until the goal is complete', async () => {
    await start('steps', 3)
    const task = await waitForPhase(service, 'steps', 'Succeeded')
    expect(task.status).toMatchObject({
      iteration: 2,
      attempts: 3,
      message: 'goal complete after 3 iterations: part 3',
    })
    expect(await readResult(service, 'steps')).toBe('answer 3 of steps')
    expect(await readPlan('steps')).toMatchObject({ Iteration: 2, Summary: 'part 3', GoalComplete: true })
    const [first, second, third] = opened.get('steps') ?? []
    for (const request of [first, second, third]) {
      expect(request?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(request?.tools?.map((tool) => tool.function.name)).toContain('update_plan')
    }
    expect(userTextOf(first as VendorRequest)).toBe('goal:steps:3')
    const told = userTextOf(third as VendorRequest)
    expect(told).toContain('"plan_document":"- [x] part 2 of steps"')
    expect(told).not.toContain('part 1')
  })

  it('shows its plan as it changes, and every plan that it had', async () => {
    const svc = (...args: string[]) => runSvc(['task', 'plan', ...args], service.env)
    let go = () => {}
    held.set('watched 2', new Promise((resolve) => (go = resolve)))
    await start('watched', 2)
    const follower = spawn(launcher, ['task', 'plan', 'watched', '--follow'], { env: service.env })
    let printed = ''
    follower.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    const ended = new Promise((resolve) => follower.once('close', resolve))
    await waitFor(() => printed.includes('- [x] part 1 of watched\n'), 'the first plan')
    go()
    expect(await ended).toBe(0)
    expect(printed.split('\n').filter((line) => line !== '')).toEqual([
      '10 %: part 1',
      '- [x] part 1 of watched',
      '20 %, iteration 1, goal complete: part 2',
      '- [x] part 2 of watched',
    ])
    expect((await svc('watched')).stdout).toBe('20 %, iteration 1, goal complete: part 2\n\n- [x] part 2 of watched\n')
    expect(JSON.parse((await svc('watched', '-o', 'json')).stdout)).toMatchObject({ Iteration: 1, ProgressPct: 20 })
    const history = (await svc('watched', '--history')).stdout.trim().split('\n')
    expect(history.map((line) => line.split(/ {2,}/).at(-1))).toEqual(['SUMMARY', 'part 2', 'part 1'])
    expect((await svc('nobody')).stderr).toContain('nobody')
  })

  it('stops after the most iterations', async () => {
    await start('endless', 0)
    const task = await waitForPhase(service, 'endless', 'Succeeded')
    expect(task.status).toMatchObject({ iteration: 3, attempts: 4 })
    expect(task.status?.message).toContain('4 iterations, the most that coordination.maxIterations allows')
  })

  it('rests when it is suspended and goes on when it is resumed', async () => {
    let go = () => {}
    held.set('paused 1', new Promise((resolve) => (go = resolve)))
    await start('paused', 2)
    await waitFor(() => opened.has('paused'), 'the first iteration')
    expect((await runSvc(['task', 'suspend', 'paused'], service.env)).code).toBe(0)
    go()
    const rests = async () =>
      (await getTask(service, 'paused')).status?.message?.startsWith('suspended after 1 iteration;')
    await waitFor(rests, 'the rest')
    expect((await getTask(service, 'paused')).status?.phase).toBe('Running')
    expect((await runSvc(['task', 'resume', 'paused'], service.env)).code).toBe(0)
    expect((await waitForPhase(service, 'paused', 'Succeeded')).status).toMatchObject({ iteration: 1, attempts: 2 })
  })

  it('without a last iteration is stopped by its budget, in the middle of one, before the next model call', async () => {
    await start('spender', 0, { agentRef: { name: 'endless' }, budget: { maxTokens: 150 } })
    const failed = await waitForPhase(service, 'spender', 'Failed')
    expect(failed.status?.message).toMatch(
      /^the budget of 150 tokens for task "spender" and the tasks that it created is used up: 150 were used; raise/,
    )
    expect(failed.status).toMatchObject({ iteration: 2, usage: { llmCalls: 5 } })
    expect(opened.get('spender')).toHaveLength(3)
    const usage = await runSvc(['-o', 'json', 'usage', '--by', 'task'], service.env)
    const items = JSON.parse(usage.stdout) as { key: string; budgets?: object[] }[]
    expect(items.find(({ key }) => key === 'default/spender')?.budgets).toEqual([{ tokens: 0, usedUp: true }])
  })

  it('is parked while it waits for others, goes on in the same iteration, and is shown with them as a tree', async () => {
    const spec = { type: 'ai', prompt: 'team goal', agentRef: { name: 'team' }, budget: { maxTokens: 10_000 } }
    // Whoever is done before it is waited for parks nobody.
    const leaf = Promise.withResolvers<void>()
    held.set('leaf', leaf.promise)
    await createTask(service, 'team', spec)
    await waitFor(async () => (await getTask(service, 'team')).status?.parkings === 1, 'the team is parked')
    held.delete('leaf')
    leaf.resolve()
    const task = await waitForPhase(service, 'team', 'Succeeded')
    expect(task.status).toMatchObject({ iteration: 1, attempts: 3, parkings: 1 })
    expect(await readResult(service, 'team')).toBe('iteration 2 is over')
    const tree = (await runSvc(['task', 'tree', 'team'], service.env)).stdout.trimEnd().split('\n')
    expect(tree).toEqual([
      expect.stringMatching(/^NAME +AGENT +PHASE +TIME +TOKENS/),
      expect.stringMatching(/^team +team +Succeeded \(iteration 2\) +\d+s +180/),
      expect.stringMatching(/^└─ \S+ +leaf +Succeeded +\d+s +30/),
      '2 tasks: 2 succeeded, 210 tokens',
    ])
    const { body } = await service.call<{ items: { key: string; budgets?: object[] }[] }>('GET', '/api/v1/usage')
    const left = body.items.find(({ key }) => key === 'default/team')?.budgets
    expect(left).toEqual([{ tokens: 10_000 - 210, usedUp: false }])
  })

  it.skipIf(!hasScript)('is shown with its tasks by svc run, on a terminal', async () => {
    let go = () => {}
    held.set(
      'leaf',
      new Promise((resolve) => {
        go = resolve
      }),
    )
    const line = `stty cols 100 rows 40; ${process.execPath} ${launcher} run --agent team 'team on screen'`
    const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...service.env, TERM: 'xterm' } })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    await waitFor(() => /└─ \S+ +leaf +(Pending|Running)/.test(text), 'the tree below the progress')
    go()
    await ended
    held.delete('leaf')
    expect(text).toContain('iteration 2 is over')
    expect(text.split('\u001b[J').at(-1)).not.toContain('└─')
    expect(text).toMatch(/look closer: \S*svc task get run-\w+; also tree/)
  })

  it('goes on in the same iteration after kill -9 of the service', async () => {
    held.set('killed 2', new Promise(() => {}))
    await start('killed', 3)
    await waitFor(() => (opened.get('killed')?.length ?? 0) === 2, 'the second iteration')
    await service.kill()
    held.delete('killed 2')
    service = await startService({ folder: service.folder })
    const task = await waitForPhase(service, 'killed', 'Succeeded')
    expect(task.status).toMatchObject({ iteration: 2, attempts: 4, interruptions: 1 })
    const again = opened.get('killed')?.[2] as VendorRequest
    expect(systemOf(again)).toContain('This is iteration 2 of at most 4')
    expect(await readPlan('killed')).toMatchObject({ Iteration: 2 })
  })
})
