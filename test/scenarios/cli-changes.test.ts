// What is there is changed from the command line: providers that are tried, priced and chosen, secrets, tools and tasks.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/contract/kinds/providers/provider.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { runSvc } from './service.ts'
import { useSharedService } from './shared-service.ts'

const shared = useSharedService('cli-changes')
let vendor: ScriptedVendor
const svc = (args: string[], env: Record<string, string | undefined> = {}) =>
  runSvc(args, { ...shared.service.env, ...env })
const readProvider = async (name: string) =>
  (await shared.service.call<Provider>('GET', `/api/v1/providers/${name}`)).body

beforeAll(async () => {
  vendor = await startVendor(() => [{ text: 'ok' }])
  vendor.models.push('large-1')
})
afterAll(async () => {
  await vendor.close()
})

describe('a provider', () => {
  it('is tried, priced by model, and chosen as the default', async () => {
    const create = ['provider', 'create', 'one', '--type', 'llmo', '--base-url', vendor.url, '--model', 'large-1']
    expect((await svc([...create, '--price', 'large-*=1000000/1000000'])).code).toBe(0)
    expect((await svc(['provider', 'create', 'two', '--type', 'llmo', '--base-url', 'http://127.0.0.1:9'])).code).toBe(
      0,
    )
    const tried = await svc(['provider', 'test', 'one', 'two'])
    expect([tried.code, tried.stdout]).toEqual([
      1,
      expect.stringMatching(/^one: ok, .*1 model \(.*\ntwo: Unreachable, /),
    ])
    await waitFor(async () => (await readProvider('one')).status?.ready === true, 'one to be ready')
    await waitFor(async () => (await readProvider('two')).status?.ready === false, 'two not to be')
    const unclear = await svc(['run', '-q', 'hello'])
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('provider set-default one')])
    expect((await svc(['provider', 'set-default', 'one'])).code).toBe(0)
    expect(await svc(['run', '-q', 'hello'])).toMatchObject({ code: 0, stdout: 'ok\n' })
    await waitFor(async () => /large-1 .* USD/.test((await svc(['usage', '--by', 'model'])).stdout), 'the cost')
  })

  it('takes another key without a value on the line', async () => {
    const value = 'made-up-value-4711'
    const first = await svc(['provider', 'update', 'one', '--key-from-env', 'SOME_KEY'], { SOME_KEY: value })
    expect(first.code).toBe(0)
    const second = await svc(['provider', 'update', 'one', '--key-from-env', 'SOME_KEY'], { SOME_KEY: `${value}-2` })
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining('the key in secret one-key was replaced')])
    expect(first.stdout + first.stderr + second.stdout + second.stderr).not.toContain(value)
    expect((await readProvider('one')).spec).toMatchObject({ secretRef: { name: 'one-key' }, default: true })
  })
})

describe('what is there', () => {
  it('changes: a secret, an agent, a tool, a skill and a schedule', async () => {
    await svc(['secret', 'create', 'key', '--from-env', 'a=SOME_KEY'], { SOME_KEY: 'made-up-1' })
    expect((await svc(['secret', 'update', 'key', '--from-env', 'b=SOME_KEY'], { SOME_KEY: 'made-up-2' })).code).toBe(0)
    const editor = join(shared.service.folder, 'edit.sh')
    writeFileSync(editor, '#!/bin/sh\ncp "$1" "$1.seen"\nprintf \'a: ""\\nc: made-up-3\\n\' > "$1"\n', { mode: 0o700 })
    const edited = await svc(['secret', 'edit', 'key'], { EDITOR: editor, VISUAL: undefined })
    expect([edited.code, edited.stderr]).toEqual([0, expect.stringContaining('secret key has a, c')])
    const file = join(shared.service.folder, 'skill.md')
    writeFileSync(file, '# How we write')
    const lines = [
      ['skill', 'create', 'style', '--description', 'd', '--from-file', file],
      ['skill', 'update', 'style', '--version', '2'],
      ['tool', 'create', 'weather', '--description', 'd', '--url', 'https://example.com/'],
      ['tool', 'update', 'weather', '--timeout', '5s'],
      ['agent', 'create', 'poet', '--tool', 'weather'],
      ['agent', 'update', 'poet', '--skill', 'style', '--model', 'large-1'],
    ]
    for (const line of lines) expect([line, (await svc(line)).code]).toEqual([line, 0])
    const agent = (await shared.service.call('GET', '/api/v1/agents/poet')).body
    expect(agent).toMatchObject({ spec: { tools: [{ name: 'weather' }], skills: [{ name: 'style' }] } })
    const task = { name: 'nightly', type: 'ai', prompt: 'hello', schedule: '0 3 * * *' }
    expect((await shared.service.call('POST', '/api/v1/tasks', task)).status).toBe(201)
    expect(
      (await svc(['task', 'update', 'nightly', '--schedule', '0 4 * * *', '--time-zone', 'Europe/Berlin'])).code,
    ).toBe(0)
    const { body } = await shared.service.call<Task>('GET', '/api/v1/tasks/nightly')
    expect(body.spec).toMatchObject({ schedule: '0 4 * * *', timeZone: 'Europe/Berlin', prompt: 'hello' })
  })
})
