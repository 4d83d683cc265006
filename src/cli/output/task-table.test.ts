import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import type { CallInput } from '../../client/client.ts'
import { growTree } from '../../client/task-tree.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { runCommandLine } from '../program.ts'
import { describeTotal } from './task-table.ts'

type Made = { parent?: string; second?: number; status?: object; agent?: string }

function makeTask(name: string, { parent, second = 0, status = { phase: 'Running' }, agent }: Made = {}): Task {
  const owner = { apiVersion, kind: 'Task', name: parent, uid: parent, controller: true }
  return {
    apiVersion,
    kind: 'Task',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: `2029-12-31T23:58:0${second}Z`,
      ...(parent !== undefined && { ownerReferences: [owner] }),
    },
    spec: { type: 'ai', ...(agent !== undefined && { agentRef: { name: agent } }) },
    status,
  } as Task
}

const ended = (phase: string, usage?: object) => ({
  phase,
  firstStartTime: '2029-12-31T23:58:00Z',
  completionTime: '2029-12-31T23:59:30Z',
  usage,
})
const used = { inputTokens: 100, outputTokens: 20, cost: 0.5, currency: 'USD' }

const family = [
  makeTask('late', { parent: 'lead', second: 3, status: { ...ended('Failed', used), message: 'it broke' } }),
  makeTask('lead', {
    agent: 'lead',
    status: { phase: 'Running', firstStartTime: '2029-12-31T23:58:00Z', iteration: 1, message: 'it runs' },
  }),
  makeTask('stranger', { parent: 'somebody' }),
  makeTask('deep', { parent: 'early', second: 4, status: { phase: 'Pending' } }),
  makeTask('early', { parent: 'lead', second: 1, agent: 'coder', status: ended('Succeeded', used) }),
]

describe('the tree of a task', () => {
  it('has each child under its parent, oldest first, and nobody else', () => {
    const rows = growTree(family[1] as Task, family)
    expect(rows.map(({ lead, task }) => lead + task.metadata.name)).toEqual([
      'lead',
      '├─ early',
      '│  └─ deep',
      '└─ late',
    ])
  })

  it('ends where a task would be its own descendant', () => {
    const [one, two] = [makeTask('one', { parent: 'two' }), makeTask('two', { parent: 'one' })]
    expect(growTree(one, [one, two]).map(({ task }) => task.metadata.name)).toEqual(['one', 'two', 'one'])
  })

  it('is summed up by phases, tokens and currencies', () => {
    const rows = growTree(family[1] as Task, family)
    expect(describeTotal(rows, (task) => task.status?.usage)).toBe(
      '4 tasks: 1 running, 1 succeeded, 1 pending, 1 failed, 240 tokens, 1 USD',
    )
  })
})

const frame = (event: string, data: object, id: number) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const writeEvent = (event: string, object: object, id: number) => frame(event, { kind: 'Task', object }, id)
const whole = [
  ...family.map((task, at) => writeEvent('added', task, at + 1)),
  frame('synced', { resourceVersion: '9' }, 9),
].join('')
const usageItem = { key: 'team/lead', inputTokens: 3000, outputTokens: 500, cost: 0.25, currency: 'USD' }

async function show(line: string[], stream: string, options: Parameters<typeof recordContext>[0] = {}) {
  const streams = [stream]
  const queries: unknown[] = []
  const watch = ({ query }: CallInput<Route>) => {
    queries.push(query)
    const next = streams.shift()
    if (next === undefined) throw new SvcError('Unauthenticated', 'the token is gone')
    return new Response(next)
  }
  const answers = {
    'GET /api/v1/tasks/:id': family[1],
    'GET /api/v1/watch': watch,
    'GET /api/v1/usage': { items: [usageItem], metadata: {} },
    ...options.answers,
  }
  const recording = recordContext({ ...options, answers })
  const code = await runCommandLine(['-n', 'team', 'task', 'tree', 'lead', ...line], recording.context)
  return { code, printed: recording.printed(), noted: recording.noted(), queries, calls: recording.calls }
}

describe('svc task tree', () => {
  it('prints the tree once where there is no terminal, with times, tokens and cost', async () => {
    const { code, printed, queries } = await show([], whole)
    expect(code).toBe(0)
    expect(printed.trimEnd().split('\n')).toEqual([
      'NAME        AGENT  PHASE                  TIME   TOKENS  COST      MESSAGE',
      'lead        lead   Running (iteration 2)  2m     3500    0.25 USD  it runs',
      '├─ early    coder  Succeeded              1m30s  120     0.5 USD',
      '│  └─ deep         Pending',
      '└─ late            Failed                 1m30s  120     0.5 USD   it broke',
      '4 tasks: 1 running, 1 succeeded, 1 pending, 1 failed, 3740 tokens, 1.25 USD',
    ])
    expect(queries).toEqual([{ kinds: 'Task', namespaces: 'team', view: 'summary' }])
  })

  it('is data for programs, in the order of the tree', async () => {
    const { printed } = await show(['-o', 'json'], whole)
    const { items } = JSON.parse(printed) as { items: Task[] }
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['lead', 'early', 'deep', 'late'])
  })

  it('is redrawn on a terminal until all of it has ended', async () => {
    const end = family.map((task, at) => writeEvent('modified', { ...task, status: ended('Succeeded', used) }, 20 + at))
    const { code, printed } = await show([], whole + end.join(''), { terminal: { columns: 60 } })
    expect(code).toBe(0)
    const last = printed.split('\u001b[J').at(-1) ?? ''
    expect(last.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^NAME +AGENT +PHASE/),
      expect.stringMatching(/^lead .*Succeeded/),
      expect.stringMatching(/^├─ early .*Succeeded/),
      expect.stringMatching(/^│ {2}└─ deep .*Succeeded/),
      expect.stringMatching(/^└─ late .*Succeeded/),
      '4 tasks: 4 succeeded, 480 tokens, 2 USD',
    ])
  })

  it('says when the task is gone, and works without the right to read usage', async () => {
    const gone = await show([], frame('synced', { resourceVersion: '1' }, 1))
    expect([gone.code, gone.noted]).toEqual([1, expect.stringContaining('task lead is gone')])
    const answers = { 'GET /api/v1/usage': new SvcError('Forbidden', 'no') }
    const { code, printed } = await show([], whole, { answers })
    expect(code).toBe(0)
    expect(printed).toMatch(/^lead +lead +Running \(iteration 2\) +2m +it runs$/m)
  })
})
