import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { showTreeBelow } from './tree-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const metadata = { namespace: 'team', creationTimestamp: '2029-12-31T23:58:00Z' }
const lead = { metadata: { ...metadata, name: 'lead', uid: 'u1' }, spec: { type: 'ai' }, status: { phase: 'Running' } }
const ownerReferences = [{ apiVersion, kind: 'Task', name: 'lead', uid: 'u1', controller: true }]
const child = { ...lead, metadata: { ...metadata, name: 'child', uid: 'u2', ownerReferences } }
const withChildren = { ...lead, status: { ...lead.status, childTasks: [{ name: 'child' }] } } as unknown as Task

const writeAdded = (object: object) => `event: added\ndata: ${JSON.stringify({ kind: 'Task', object })}\n\n`
const stream = `${writeAdded(lead)}${writeAdded(child)}event: synced\ndata: {}\n\n`

function open(below?: (lines: readonly string[]) => void) {
  const silent = { update: () => {}, log: () => {}, part: () => {}, suspend: () => () => {}, stop: () => {} }
  const answers = { 'GET /api/v1/watch': () => new Response(stream), 'GET /api/v1/usage': { items: [] } }
  const { context, calls } = recordContext({ answers })
  const stop = new AbortController()
  return { context, calls, stop, spinner: below === undefined ? silent : { ...silent, below } }
}

it('shows the tree from the first child on, once, until it is stopped', async () => {
  const shown: (readonly string[])[] = []
  const { context, calls, stop, spinner } = open((lines) => void shown.push(lines))
  const show = showTreeBelow(await context.connect({} as never), spinner, { context, signal: stop.signal })
  show(lead as unknown as Task)
  expect(calls).toEqual([])
  show(withChildren)
  show(withChildren)
  await vi.waitFor(() => expect(shown.length).toBeGreaterThan(0))
  stop.abort()
  expect(shown[0]).toEqual([
    expect.stringMatching(/^NAME/),
    expect.stringMatching(/^lead +Running/),
    expect.stringMatching(/^└─ child +Running/),
  ])
  expect(calls.filter(({ route }) => route === 'GET /api/v1/watch')).toHaveLength(1)
})

it('asks for nothing where nothing can be drawn', async () => {
  const { context, calls, stop, spinner } = open()
  showTreeBelow(await context.connect({} as never), spinner, { context, signal: stop.signal })(withChildren)
  expect(calls).toEqual([])
})
