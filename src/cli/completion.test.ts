import { describe, expect, it } from 'vitest'
import { pageOf, recordContext } from '../../test/fixtures/cli/recording-context.ts'
import { SvcError } from '../errors.ts'
import { runCommandLine } from './program.ts'

const answers = {
  'GET /api/v1/tasks': () => pageOf([{ metadata: { name: 'one' } }, { metadata: { name: 'other' } }]),
  'GET /api/v1/providers': () => pageOf([{ metadata: { name: 'claude' } }]),
  'GET /api/v1/secrets': () => pageOf([{ name: 'key' }]),
  'GET /api/v1/security/repositories': () => pageOf([{ metadata: { name: 'shop' } }]),
  'GET /api/v1/configmaps': () => pageOf([{ metadata: { name: 'texts' }, keys: ['a'] }]),
  'GET /api/v1/tools': () => pageOf([{ name: 'file_read', builtin: true }]),
}

async function complete(line: string, served: Record<string, unknown> = answers) {
  const recording = recordContext({ answers: served })
  const code = await runCommandLine(['__complete', ...line.split(' ').slice(1)], recording.context)
  return { code, words: recording.printed().split('\n').filter(Boolean), ...recording }
}

describe('completion', () => {
  it.each([
    ['svc ta', ['task']],
    ['svc task l', ['list', 'logs']],
    ['svc -o json task re', ['result', 'resume', 'retry']],
    ['svc --namespace x task ca', ['cancel']],
    ['svc -o ', ['table', 'wide', 'json', 'yaml', 'name']],
    ['svc task list --phase Su', ['Succeeded']],
    ['svc token create --server-tools o', ['on', 'off']],
    ['svc --output = j', ['json']],
    ['svc --output=j', ['json']],
    ['svc completion ', ['bash', 'zsh', 'fish']],
    ['svc get pro', ['provider']],
    ['svc run --pro', ['--provider']],
    ['svc up --po', ['--port']],
    ['svc task get o', ['one', 'other']],
    ['svc get tasks o', ['one', 'other']],
    ['svc run --provider c', ['claude']],
    ['svc secret delete ', ['key']],
    ['svc configmap update ', ['texts']],
    ['svc task cancel one o', ['one', 'other']],
    ['svc describe task o', ['one', 'other']],
    ['svc agent create --tool f', ['file_read']],
    ['svc provider test c', ['claude']],
    ['svc provider set-default c', ['claude']],
    ['svc provider update --secret k', ['key']],
    ['svc provider update claude --server-tools ', ['on', 'off']],
    ['svc task update o', ['one', 'other']],
    ['svc secret edit ', ['key']],
    ['svc logs o', ['one', 'other']],
    ['svc tasks get o', ['one', 'other']],
    ['svc delete task o', ['one', 'other']],
    ['svc edit task o', ['one', 'other']],
    ['svc scan get ', ['shop']],
    ['svc scan findings sh', ['shop']],
    ['svc scan import a.sarif --scan ', ['shop']],
    ['svc run --git-secret ', ['key']],
    ['svc explain pro', ['provider']],
    ['svc explain sec', ['secret']],
    ['svc explain task.spec.retryP', ['task.spec.retryPolicy']],
    ['svc explain task.spec.retryPolicy.m', ['task.spec.retryPolicy.maxRetries']],
    ['svc explain cm.d', ['cm.data']],
  ])('of `%s` is %j', async (line, words) => {
    expect((await complete(line)).words).toEqual(words)
  })

  it.each([
    'svc nonsense ',
    'svc apply -f ',
    'svc explain task.none.',
    'svc task get one ',
    'svc agent create ',
    'svc run ',
  ])('of `%s` is left to the shell', async (line) => {
    expect((await complete(line)).words).toEqual([])
  })

  it('asks the service and the namespace that the command line names', async () => {
    const { calls } = await complete('svc -n team task get ')
    expect(calls[0]?.input.query).toMatchObject({ namespace: 'team' })
  })

  it('offers no names when no service answers', async () => {
    const failing = { 'GET /api/v1/tasks': new SvcError('Unavailable', 'no service runs here') }
    const { code, words, noted } = await complete('svc task get ', failing)
    expect({ code, words, noted: noted() }).toEqual({ code: 1, words: [], noted: '' })
  })
})
