// What the code of a task finds around it: variables, secrets as files, texts of config maps, a place on a cluster.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const home = { namespace: 'default' }

function commandOf(name: string) {
  const { run } = bench.workloads.specOf(name)
  if (run.kind !== 'command') throw new Error('no command')
  return run
}

function assignmentOf(name: string) {
  const { run } = bench.workloads.specOf(name)
  if (run.kind !== 'worker') throw new Error('no worker')
  return run.assignment
}

describe('variables', () => {
  it('are read from config maps, from secrets, from the task itself and from its limits', async () => {
    await bench.configMaps.create({ ...home, name: 'settings', data: { colour: 'blue' } })
    await bench.secrets.create({ ...home, name: 'keys', stringData: { token: 'tok-123456' } })
    const env = [
      { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
      { name: 'GONE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'size', optional: true } } },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } },
      { name: 'TEAM', valueFrom: { fieldRef: { fieldPath: "metadata.labels['team']" } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu', divisor: '1m' } } },
    ]
    const resources = { limits: { memory: '1000Ki', cpu: 2 }, requests: { cpu: '1100m' } }
    await bench.submitTask('build', { env, resources }, { labels: { team: 'red' } })
    await bench.running('build')
    const { env: variables, redact } = commandOf('build')
    expect(variables).toMatchObject({
      COLOUR: 'blue',
      TOKEN: 'tok-123456',
      TEAM: 'red',
      MEMORY: '1',
      CPU: '1100',
    })
    expect(variables).not.toHaveProperty('GONE')
    expect(redact).toEqual(['tok-123456'])
  })

  it('make the task wait for a config map that does not exist yet', async () => {
    const env = [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'late', key: 'colour' } } }]
    await bench.submitTask('build', { env })
    const waiting = await bench.taskWhen('build', ({ status }) => status?.message !== undefined, 'says why it waits')
    expect(waiting.status?.message).toMatch(/config map "late".*variable COLOUR, does not exist; create it/)
    await bench.configMaps.create({ ...home, name: 'late', data: { colour: 'blue' } })
    await bench.running('build')
    expect(commandOf('build').env).toMatchObject({ COLOUR: 'blue' })
  })

  it('of an ai task are set for the code that it runs', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    const spec = { type: 'ai', prompt: 'p', command: undefined, env: [{ name: 'COLOUR', value: 'blue' }] }
    await bench.submitTask('poem', spec)
    await bench.running('poem')
    expect(assignmentOf('poem').task.variables).toEqual({ COLOUR: 'blue' })
  })
})

describe('secretRef', () => {
  it('gives a command the entries as files, and removes them from its output', async () => {
    await bench.secrets.create({ namespace: 'other', name: 'keys', stringData: { 'id.pem': 'value-123' } })
    await bench.submitTask('build', { secretRef: { name: 'keys', namespace: 'other' } })
    await bench.running('build')
    expect(bench.workloads.specOf('build').secrets).toEqual([
      { namespace: 'other', name: 'keys', folder: '/secrets/task', entries: { 'id.pem': 'value-123' } },
    ])
    expect(commandOf('build').redact).toEqual(['value-123'])
  })

  it('of a task and of its agent are files of the code of an ai task', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.secrets.create({ ...home, name: 'own', stringData: { a: 'value-123' } })
    await bench.secrets.create({ ...home, name: 'agents', stringData: { b: 'value-456' } })
    await bench.create('Agent', 'coder', { secretRef: { name: 'agents' } })
    const spec = {
      type: 'ai',
      prompt: 'p',
      command: undefined,
      agentRef: { name: 'coder' },
      secretRef: { name: 'own' },
    }
    await bench.submitTask('poem', spec)
    await bench.running('poem')
    const { task, redact } = assignmentOf('poem')
    expect(task.files).toEqual({ '/secrets/task/a': 'value-123', '/secrets/agent/b': 'value-456' })
    expect(redact).toEqual(expect.arrayContaining(['value-123', 'value-456']))
  })

  it('makes the task wait for a missing secret, and refuses an entry that cannot be a file', async () => {
    await bench.submitTask('build', { secretRef: { name: 'late' } })
    const waiting = await bench.taskWhen('build', ({ status }) => status?.message !== undefined, 'says why it waits')
    expect(waiting.status?.message).toMatch(/secret "late".*spec.secretRef, does not exist; create it/)
    await bench.secrets.create({ ...home, name: 'late', stringData: { '..': 'value-123' } })
    expect((await bench.phase('build', 'Failed')).status?.message).toMatch(/entry "\.\.", which cannot be a file name/)
  })
})

describe('a secret that names the hosts it may be sent to', () => {
  const reference = { name: 'bound', key: 'token' }
  const mount = { secretRef: { name: 'bound' } }
  it.each([
    ['as files', mount, undefined],
    ['as a variable', { env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: reference } }] }, undefined],
    ['as an optional one', { env: [{ name: 'T', valueFrom: { secretKeyRef: { ...reference, optional: true } } }] }],
    ['as files of the agent', { type: 'ai', prompt: 'p', command: undefined, agentRef: { name: 'coder' } }, mount],
  ])('is not given to code: %s', async (_how, spec: object, ofAgent?: object) => {
    const annotations = { 'svc.ai/allowed-hosts': 'api.example.com' }
    await bench.secrets.create({ ...home, name: 'bound', stringData: { token: 'tok-123456' }, annotations })
    if (ofAgent !== undefined) await bench.create('Agent', 'coder', ofAgent)
    await bench.submitTask('build', spec)
    const failed = await bench.phase('build', 'Failed')
    expect(failed.status?.message).toMatch(
      /"default\/bound" may be sent to api\.example\.com.*not to the code of a task/,
    )
    expect(failed.status?.attempts ?? 0).toBe(0)
  })
})

describe('texts of config maps', () => {
  it('are the system prompt of an agent and skills of agent and task', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    const data = { prompt: 'You are a poet.', style: 'Be brief.', form: 'Rhyme.' }
    await bench.configMaps.create({ ...home, name: 'texts', data })
    const fromMap = (key: string) => ({ configMapRef: { name: 'texts', key } })
    await bench.create('Agent', 'poet', { systemPrompt: fromMap('prompt'), skills: [fromMap('style')] })
    const ai = { skills: [fromMap('form')] }
    await bench.submitTask('poem', { type: 'ai', prompt: 'p', command: undefined, agentRef: { name: 'poet' }, ai })
    await bench.running('poem')
    const skill = (name: string, text: string) => `<skill name="texts/${name}">\n${text}\n</skill>`
    expect(assignmentOf('poem').loop.systemPrompt).toBe(
      ['You are a poet.', skill('style', 'Be brief.'), skill('form', 'Rhyme.')].join('\n\n'),
    )
  })
})

describe('placement on a cluster', () => {
  it('comes from the task, and field by field from its agent; other resources are passed on', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    const execution = { runtimeClassName: 'gvisor', nodeSelector: { disk: 'slow' } }
    await bench.create('Agent', 'coder', { execution })
    const tolerations = [{ key: 'gpu', operator: 'Exists' }]
    await bench.submitTask('poem', {
      type: 'ai',
      prompt: 'p',
      command: undefined,
      agentRef: { name: 'coder' },
      priority: 900,
      execution: { nodeSelector: { disk: 'fast' }, tolerations },
      resources: { limits: { 'nvidia.com/gpu': 1, memory: '1Gi' } },
    })
    await bench.running('poem')
    expect(bench.workloads.specOf('poem')).toMatchObject({
      placement: { runtimeClassName: 'gvisor', nodeSelector: { disk: 'fast' }, tolerations },
      priority: 900,
      limits: { memoryBytes: 1024 ** 3, extended: { requests: {}, limits: { 'nvidia.com/gpu': '1' } } },
    })
  })
})
