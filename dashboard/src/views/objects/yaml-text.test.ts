import { describe, expect, it } from 'vitest'
import { lineOf, readManifest, writeManifest } from './yaml-text.ts'

const head = { apiVersion: 'core.svc.ai/v1alpha1', kind: 'Skill' }

describe('a manifest as YAML', () => {
  it('is what was written, without what the service writes', () => {
    const metadata = { name: 'notes', namespace: 'default', uid: '1', labels: { team: 'a' } }
    const text = writeManifest(head, { metadata, spec: { tags: ['x'] } })
    expect(text).not.toContain('uid')
    expect(readManifest(text)).toEqual({
      manifest: { metadata: { name: 'notes', namespace: 'default', labels: { team: 'a' } }, spec: { tags: ['x'] } },
    })
  })

  it.each([
    ['spec: [\n', /^Line 2: /],
    ['metadata: {}\nspec:\n  a: 1\n  a: 2\n', /^Line 4: /],
    ['- a\n', /must be "metadata:" and "spec:"/],
    ['spec: 5\n', /must be a "spec:"/],
    ['# a note\nmetadata: 5\nspec: {}\n', /^Line 2: metadata must have fields/],
  ])('that cannot be read says why and where: %j', (text, problem) => {
    expect(readManifest(text).problem).toMatch(problem)
  })

  it('is refused when aliases would make it grow beyond measure', () => {
    const level = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]\n`
    const text = `a: &a [x]\n${['b', 'c', 'd', 'e'].map((name, at) => level(name, 'abcd'[at] ?? 'a')).join('')}spec: {}\n`
    expect(readManifest(text).problem).toMatch(/alias/i)
  })

  it('has a line for each problem of the service', () => {
    const text = 'metadata:\n  labels:\n    example.com/a: b\nspec:\n  tools:\n    - name: a\n    - name: B\n'
    expect(lineOf(text, 'spec.tools[1].name')).toBe(7)
    expect(lineOf(text, 'metadata.labels["example.com/a"]')).toBe(3)
    expect(lineOf(text, 'spec.description')).toBe(4)
    expect(lineOf(text, '')).toBe(1)
  })

  it('refuses what would never end, and takes no key for more than a name', () => {
    expect(readManifest('metadata: &it { name: x, labels: *it }\nspec: {}').problem).toMatch(/would never end/)
    const { manifest } = readManifest('metadata: { name: x }\nspec: { __proto__: { polluted: true } }')
    expect(Object.keys(manifest?.spec ?? {})).toEqual(['__proto__'])
    expect('polluted' in {}).toBe(false)
  })
})
