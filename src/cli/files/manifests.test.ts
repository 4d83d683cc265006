import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import type { SvcError } from '../../errors.ts'
import { readManifests } from './manifests.ts'

function read(text: string, namespace?: string) {
  const { context } = recordContext({ files: { 'a.yaml': text } })
  return readManifests(['a.yaml'], context, {
    output: 'table',
    settings: {},
    ...(namespace === undefined ? {} : { namespace }),
  })
}

const agent = (name: string) => `kind: Agent\nmetadata: {name: ${name}}\nspec: {}\n`

describe('manifests', () => {
  it('are read from documents, List items and arrays, in order', async () => {
    const list = 'kind: AgentList\nitems:\n  - {kind: Agent, metadata: {name: c}}\n'
    const array = '- {kind: Tool, metadata: {name: d}}\n- {kind: Skill, metadata: {name: e}}\n'
    const manifests = await read([agent('a'), '', agent('b'), list, array].join('---\n'))
    expect(manifests.map(({ label }) => label)).toEqual(['agent/a', 'agent/b', 'agent/c', 'tool/d', 'skill/e'])
  })

  it('may be JSON', async () => {
    const [manifest] = await read('{"kind":"Agent","metadata":{"name":"a","namespace":"x"}}')
    expect(manifest).toMatchObject({ label: 'agent/a', namespace: 'x', source: 'a.yaml, document 1' })
  })

  it('may be ConfigMaps in kubectl’s form', async () => {
    const [manifest] = await read('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: texts}\ndata: {a: b}\n')
    expect(manifest).toMatchObject({ label: 'configmap/texts', document: { data: { a: 'b' } } })
  })

  it('take the namespace of the command line where they name none', async () => {
    expect((await read(agent('a'), 'x'))[0]?.namespace).toBe('x')
    await expect(read('kind: Agent\nmetadata: {name: a, namespace: y}\n', 'x')).rejects.toThrow(/namespace y.*x/)
  })

  it.each([
    ['a text', 'hello', /not a mapping/],
    ['no kind', 'metadata: {name: a}', /needs `kind`/],
    ['an unknown kind', 'kind: Widget\nmetadata: {name: a}', /`Widget` is not a kind.*Agent/],
    ['a Secret', 'kind: Secret\nmetadata: {name: a}', /svc .*secret`/],
    ['no name', 'kind: Agent', /metadata\.name/],
    ['a name that is a number', 'kind: Agent\nmetadata: {name: 12}', /metadata\.name.*text/],
    ['a foreign version', 'apiVersion: v1\nkind: Agent\nmetadata: {name: a}', /`v1`.*core\.svc\.ai/],
    [
      'a ConfigMap of another version',
      'apiVersion: core.svc.ai/v1alpha1\nkind: ConfigMap\nmetadata: {name: a}',
      /write v1/,
    ],
    ['broken YAML', 'kind: [', /a\.yaml, document 1/],
    ['a key that is there twice', 'kind: Agent\nkind: Tool\nmetadata: {name: a}', /unique/],
    ['nothing', '\n---\n', /no document in a\.yaml/],
  ])('are refused when there is %s', async (_what, text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('are refused with every invalid document named', async () => {
    const error = await read(`kind: Widget\n---\n${agent('a')}---\nmetadata: {}\n`).catch((caught: SvcError) => caught)
    expect((error as SvcError).details?.map(({ path }) => path)).toEqual(['a.yaml, document 1', 'a.yaml, document 3'])
  })
})
