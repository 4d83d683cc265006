import { describe, expect, it } from 'vitest'
import { kindNames } from '../kinds/index.ts'
import { buildCrd, crdFileName, makeStructural } from './crd.ts'

type Json = Record<string, unknown>

function schemaOf(kind: (typeof kindNames)[number]): Json {
  const spec = buildCrd(kind).spec as { versions: { schema: { openAPIV3Schema: Json } }[] }
  return spec.versions[0]?.schema.openAPIV3Schema ?? {}
}

function pick(schema: unknown, ...path: string[]): Json {
  return path.reduce<unknown>((value, part) => (value as Json)[part], schema) as Json
}

/** Visits every schema below one, itself included. */
function visit(schema: Json, look: (schema: Json, path: string) => void, path = ''): void {
  look(schema, path)
  for (const [name, child] of Object.entries((schema.properties ?? {}) as Json))
    visit(child as Json, look, `${path}.${name}`)
  for (const key of ['items', 'additionalProperties']) {
    if (schema[key] !== undefined) visit(schema[key] as Json, look, `${path}.${key}`)
  }
}

const forbidden = [
  '$ref',
  'definitions',
  'oneOf',
  'allOf',
  'not',
  'const',
  'nullable',
  'propertyNames',
  'x-svc-aliases',
]

describe.each(kindNames)('definition of %s', (kind) => {
  it('is structural', () => {
    visit(schemaOf(kind), (schema, path) => {
      const isTyped = typeof schema.type === 'string'
      const isOpen =
        schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true
      expect(isTyped || isOpen, path).toBe(true)
      expect(
        Object.keys(schema).filter((key) => forbidden.includes(key)),
        path,
      ).toEqual([])
      expect(schema.properties !== undefined && schema.additionalProperties !== undefined, path).toBe(false)
      expect(schema.additionalProperties, path).not.toBe(false)
    })
  })

  it('has only expressions that Go can read', () => {
    visit(schemaOf(kind), (schema, path) => {
      expect(String(schema.pattern ?? ''), path).not.toContain('(?')
    })
  })

  it('keeps status apart and has a file of its own', () => {
    const spec = buildCrd(kind).spec as { versions: Json[]; group: string; scope: string }
    expect(spec.versions[0]?.subresources).toEqual({ status: {} })
    expect([spec.group, spec.scope]).toEqual(['core.svc.ai', 'Namespaced'])
    expect(crdFileName(kind)).toMatch(/^core\.svc\.ai_[a-z]+\.yaml$/)
  })
})

describe('definition of tasks', () => {
  const task = schemaOf('Task')
  const rules = (...path: string[]) =>
    (pick(task, 'properties', 'spec', ...path)['x-kubernetes-validations'] as { rule: string }[]).map(
      (entry) => entry.rule,
    )

  it('keeps who asked and their transaction as they were [TASK-010] [TASK-011]', () => {
    expect(rules()).toContain('has(self.requestedBy) == has(oldSelf.requestedBy)')
    expect(rules()).toContain('has(self.transaction) == has(oldSelf.transaction)')
    expect(rules('properties', 'requestedBy')).toEqual(['self == oldSelf'])
    expect(rules('properties', 'transaction')).toEqual(['self == oldSelf'])
  })

  it('lets quantities be numbers or text', () => {
    const limits = pick(task, 'properties', 'spec', 'properties', 'resources', 'properties', 'limits')
    expect(limits.additionalProperties).toEqual({
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
    })
  })

  it('has the defaults of the contract', () => {
    expect(pick(task, 'properties', 'spec', 'properties', 'priority').default).toBe(500)
  })
})

describe('definition of providers', () => {
  it('knows only the neutral words, which are what is stored [NAME-017]', () => {
    const type = pick(schemaOf('Provider'), 'properties', 'spec', 'properties', 'type')
    expect(type.enum).toEqual(['llma', 'llmo', 'azure-llmo', 'demo'])
  })
})

describe('structural schemas', () => {
  it('leave open what Kubernetes has no word for', () => {
    const union = { anyOf: [{ type: 'string' }, { type: 'object', properties: {} }] }
    expect(makeStructural(union)).toEqual({ 'x-kubernetes-preserve-unknown-fields': true })
    expect(makeStructural({})).toEqual({ 'x-kubernetes-preserve-unknown-fields': true })
    expect(makeStructural({ type: 'object', additionalProperties: {} })).toEqual({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    })
  })

  it('have what was referred to in place', () => {
    const schema = {
      $ref: '#/definitions/A',
      definitions: { A: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER } },
    }
    expect(makeStructural(schema)).toEqual({ type: 'integer', format: 'int64' })
  })
})
