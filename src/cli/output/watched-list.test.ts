import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import type { CallInput } from '../../client/client.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import { SvcError } from '../../errors.ts'
import { runCommandLine } from '../program.ts'

const task = (name: string, second: number, phase: string) => ({
  kind: 'Task',
  metadata: {
    name,
    namespace: 'team',
    uid: name,
    resourceVersion: String(second),
    creationTimestamp: `2029-12-31T23:59:0${second}Z`,
  },
  spec: { type: 'ai' },
  status: { phase, attempts: 1 },
})
const frame = (event: string, data: object, id?: number) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const writeEvent = (event: string, object: object, id?: number) => frame(event, { kind: 'Task', object }, id)
const refused = new SvcError('Unauthenticated', 'the token is gone')

/** Streams one after the other, of which the last is a refusal: a watch ends with nothing else. */
function serve(...streams: (string | Error)[]) {
  const queries: unknown[] = []
  const answer = (input: CallInput<Route>) => {
    queries.push({ ...input.query, after: (input.headers as Record<string, string>)['last-event-id'] })
    const next = streams.shift() ?? refused
    if (next instanceof Error) throw next
    return new Response(next)
  }
  const recording = recordContext({ answers: { 'GET /api/v1/watch': answer } })
  return { ...recording, queries }
}

const begin = [
  writeEvent('added', task('old', 1, 'Succeeded')),
  writeEvent('added', task('new', 3, 'Running')),
  frame('synced', { resourceVersion: '7' }, 7),
].join('')

describe('a watched list', () => {
  it('prints the objects there are, newest first, then a row for each change', async () => {
    const changes = [
      frame('bookmark', { resourceVersion: '8' }, 8),
      writeEvent('modified', task('new', 3, 'Succeeded'), 9),
      writeEvent('deleted', task('old', 1, 'Succeeded'), 10),
    ]
    const { context, queries, printed, noted } = serve(begin + changes.join(''))
    expect(await runCommandLine(['task', 'list', '-w', '-n', 'team', '-l', 'a=b'], context)).not.toBe(0)
    expect(printed().trimEnd().split('\n')).toEqual([
      'NAME  TYPE  PHASE      ATTEMPTS  AGE  MESSAGE',
      'new   ai    Running    1         57s',
      'old   ai    Succeeded  1         59s',
      'new   ai    Succeeded  1         57s',
    ])
    expect(noted()).toContain('task/old is gone')
    expect(queries).toEqual([
      { kinds: 'Task', namespaces: 'team', labelSelector: 'a=b', view: 'summary', after: undefined },
      { kinds: 'Task', namespaces: 'team', labelSelector: 'a=b', view: 'summary', after: '10' },
    ])
  })

  it('applies the filters of the list, and the limit to its first rows', async () => {
    const { context, queries, printed } = serve(begin)
    const filters = ['--phase', 'Failed', '--type', 'ai', '--agent', 'writer', '-l', 'a=b']
    await runCommandLine(['task', 'list', '-w', '--limit', '1', '-o', 'name', ...filters], context)
    expect(queries[0]).toMatchObject({ phase: 'Failed', type: 'ai', agent: 'writer', labelSelector: 'a=b' })
    expect(printed().trimEnd()).toBe('task/new')
  })

  it('shows those that are named, and says which of them are not there yet', async () => {
    const { context, queries, printed, noted } = serve(begin + writeEvent('added', task('later', 4, 'Pending'), 8))
    await runCommandLine(['get', 'task', 'old', 'new', 'later', '-w', '-o', 'name'], context)
    expect(queries[0]).toMatchObject({ kinds: 'Task', names: 'old,new,later' })
    expect(printed().trimEnd().split('\n')).toEqual(['task/new', 'task/old', 'task/later'])
    expect(noted()).toMatch(/^task\/later is not there; it is shown once it is$/m)
    expect(noted()).not.toContain('task/old')
  })

  it('begins again when the service no longer has the changes in between', async () => {
    const { context, queries, printed } = serve(begin, new SvcError('Expired', 'too old'), begin)
    await runCommandLine(['get', 'tasks', '--watch', '-A', '-o', 'name'], context)
    expect(printed().trimEnd().split('\n')).toEqual(['task/new', 'task/old', 'task/new', 'task/old'])
    expect(queries).toMatchObject([{ allNamespaces: true, after: undefined }, { after: '7' }, { after: undefined }, {}])
  })

  it.each([
    [['get', 'configmaps', '-w'], 'cannot be watched'],
    [['get', 'all', '-w'], 'one kind'],
    [['get', 'task', 'x', '-A'], 'one namespace'],
    [['get', 'tasks', '-A', '-n', 'team'], 'not both'],
  ])('%j is refused', async (line, words) => {
    const { context, queries, noted } = serve()
    expect(await runCommandLine(line, context)).not.toBe(0)
    expect(noted()).toContain(words)
    expect(queries).toEqual([])
  })
})
