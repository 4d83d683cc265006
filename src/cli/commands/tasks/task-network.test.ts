import { expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { SvcError } from '../../../errors.ts'
import { runCommandLine } from '../../program.ts'

const network = { allow: ['packages'], onUnknown: 'ask', from: 'agent' }
const host = {
  host: 'pypi.org',
  port: 443,
  connections: 12,
  refused: 0,
  sent: 2048,
  received: 3_145_728,
  allowedBy: 'packages',
  firstAt: '2029-12-31T23:50:00Z',
  lastAt: '2029-12-31T23:59:00Z',
}
const unlisted = { ...host, host: 'a.example', connections: 0, refused: 3, sent: 0, received: 0, allowedBy: undefined }
const others = { ...host, host: '*', port: 0 }
const answer = { network, hosts: [host, unlisted, others], learned: ['a.example', 'pypi.org'] }

async function run(line: string[], reply: unknown = answer, task: object = {}) {
  const spec = { type: 'container', command: ['true'], ...task }
  const answers = {
    'GET /api/v1/tasks/:id/network': reply,
    'GET /api/v1/tasks/:id': { metadata: { name: 'build', namespace: 'default' }, spec },
  }
  const recording = recordContext({ answers })
  const code = await runCommandLine(line, recording.context)
  return {
    code,
    printed: recording.printed(),
    noted: recording.noted(),
    calls: recording.calls.map(({ route }) => route),
  }
}

it('lists what was reached and refused, with what allows it, below the network that applies', async () => {
  const { printed, noted } = await run(['task', 'network', 'build'])
  expect(noted).toContain('network: packages; a person is asked about other hosts (its agent says so)')
  expect(printed.split('\n').map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
    'HOST  CONNECTIONS  SENT  RECEIVED  REFUSED  ALLOWED BY  LAST',
    expect.stringMatching(/^pypi\.org:443 {2}12 {2}2 KiB {2}3 MiB {2}packages {2}1m$/),
    expect.stringMatching(/^a\.example:443 {2}0 {2}0 B {2}0 B {2}3 {2}nothing {2}1m$/),
    expect.stringMatching(/^all others {2}/),
    '',
  ])
  expect(JSON.parse((await run(['task', 'network', 'build', '-o', 'json'])).printed)).toEqual(
    JSON.parse(JSON.stringify(answer)),
  )
})

it('prints a spec.network for the next run, ready to paste', async () => {
  const { printed } = await run(['task', 'network', 'build', '--learn'])
  expect(printed).toBe('spec:\n  network:\n    allow:\n      - a.example\n      - pypi.org\n    onUnknown: refuse\n')
  const value = { spec: { network: { allow: answer.learned, onUnknown: 'refuse' } } }
  expect(JSON.parse((await run(['task', 'network', 'build', '--learn', '-o', 'json'])).printed)).toEqual(value)
})

it.each([
  [
    { network, hosts: [], learned: [] },
    /nothing can be learned: build has asked for no host yet; .*onUnknown is allow/,
  ],
  [
    { network: { ...network, allow: ['open'] }, hosts: [], learned: [] },
    /nothing can be learned: what build reaches is not counted/,
  ],
])('says why nothing can be learned: %j', async (reply, why) => {
  const learned = await run(['task', 'network', 'build', '--learn'], reply)
  expect([learned.code, learned.printed, learned.noted]).toEqual([2, '', expect.stringMatching(why)])
  expect((await run(['task', 'network', 'build'], reply)).code).toBe(0)
})

it('says with a task which network applies, unless it runs no programs or the service does not know', async () => {
  const line = ['task', 'get', 'build']
  expect((await run(line)).printed).toMatch(/^network: +packages; a person is asked/m)
  const words = await run(line, answer, { type: 'ai' })
  expect([words.code, words.calls]).toEqual([0, ['GET /api/v1/tasks/:id']])
  const older = await run(line, new SvcError('NotFound', 'there is no such route'))
  expect([older.code, older.printed]).toEqual([0, expect.not.stringContaining('network')])
})
