import { describe, expect, it } from 'vitest'
import { type Agent, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import { digestContent, findVersionStart, isVersionDue, readVersionContent } from './versions.ts'

const created = '2030-01-01T00:00:00Z'
const now = new Date('2030-02-01T00:00:00Z')
const agent = (spec: object, generation = 1) =>
  ({ metadata: { generation, creationTimestamp: created }, spec: AgentSpec.parse(spec) }) as unknown as Agent

describe('the content of a version', () => {
  it('is what the model is told and which one it is, and nothing else of the agent', () => {
    const spec = {
      systemPrompt: { inline: 'Be brief.' },
      providerRef: { name: 'main' },
      model: { name: 'large', temperature: 0.2 },
      tools: [{ name: 'web_fetch' }, { name: 'weather', enabled: false }],
      skills: [{ name: 'notes' }, { configMapRef: { name: 'texts', key: 'style.md' } }],
      secretRef: { name: 'keys' },
      maxIterations: 5,
    }
    expect(readVersionContent(agent(spec), 'Be brief.')).toEqual({
      prompt: 'Be brief.',
      providerRef: { name: 'main' },
      model: { name: 'large', temperature: 0.2 },
      tools: ['web_fetch'],
      skills: ['notes', 'texts/style.md'],
    })
    expect(readVersionContent(agent({}), undefined)).toEqual({})
  })

  it('says which program it is, and which ConfigMap the prompt was read from', () => {
    const configMapRef = { name: 'texts', key: 'prompt.md' }
    const own = agent({ runtime: { runtimeRef: { name: 'qwen' } }, systemPrompt: { configMapRef } })
    expect(readVersionContent(own, 'Hi')).toEqual({ prompt: 'Hi', promptFrom: configMapRef, program: 'qwen' })
    expect(readVersionContent(agent({ runtime: { type: 'opencode' } }), undefined)).toEqual({ program: 'opencode' })
  })

  it('has one digest, whatever order a store returns its keys in', () => {
    const content = { prompt: 'a', model: { name: 'm', temperature: 1 } }
    const turned = { model: { temperature: 1, name: 'm' }, prompt: 'a' }
    expect(digestContent(turned)).toBe(digestContent(content))
    expect(digestContent({ ...content, prompt: 'b' })).not.toBe(digestContent(content))
  })
})

describe('a new version', () => {
  it('is due for the first content, for another one, and for one that comes back, but not for what an older generation had', () => {
    const since = new Date(now.getTime() - 59_000).toISOString()
    const newest = { digest: 'a', generation: 3, since }
    expect(isVersionDue(undefined, newest, now)).toBe(true)
    expect(isVersionDue(newest, { digest: 'a', generation: 4 }, now)).toBe(false)
    expect(isVersionDue(newest, { digest: 'b', generation: 4 }, now)).toBe(true)
    // Of a ConfigMap.
    expect(isVersionDue(newest, { digest: 'b', generation: 3 }, now)).toBe(true)
    expect(isVersionDue(newest, { digest: 'b', generation: 2 }, now)).toBe(false)
    // Of a cluster that was restored, where generations begin anew.
    expect(isVersionDue({ ...newest, since: created }, { digest: 'b', generation: 2 }, now)).toBe(true)
  })

  it('begins with the agent where nothing can have been before it, else when it is seen', () => {
    expect(findVersionStart(agent({}), 1, now)).toBe('2030-01-01T00:00:00.000Z')
    const mapped = agent({ systemPrompt: { configMapRef: { name: 'texts', key: 'k' } } })
    const later = [findVersionStart(agent({}, 2), 1, now), findVersionStart(agent({}), 2, now)]
    expect([...later, findVersionStart(mapped, 1, now)]).toEqual(Array(3).fill(now.toISOString()))
  })
})
