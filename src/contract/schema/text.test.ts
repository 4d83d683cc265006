// All texts of the contract: a limit of length comes before everything that looks at the text, and ends the look.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { internalRoutes, publicRoutes } from '../api/index.ts'
import { kinds } from '../kinds/index.ts'
import { limitedText } from './text.ts'
import { parse } from './validation.ts'

type Definition = z.core.$ZodTypeDef & Record<string, unknown>

function isSchema(value: object): value is z.core.$ZodType {
  return '_zod' in value
}

/** What a value holds in turn: of a schema its definition. */
function innerOf(value: object): unknown[] {
  if (!isSchema(value)) return Object.values(value)
  const definition = value._zod.def as Definition
  const lazy = definition.type === 'lazy' ? [(definition.getter as () => unknown)()] : []
  return [...Object.values(definition), ...lazy]
}

/** Every schema that is reachable from the given ones. */
function collect(roots: unknown[]): z.core.$ZodType[] {
  const seen = new Set<object>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    innerOf(value).forEach(visit)
  }
  roots.forEach(visit)
  return [...seen].filter(isSchema)
}

type Check = { _zod: { def: { check: string; abort?: boolean; pattern?: RegExp; fn?: unknown } } }

const checksOf = (schema: z.core.$ZodType) => ((schema._zod.def as Definition).checks ?? []) as Check[]
const texts = collect([publicRoutes, internalRoutes, kinds]).filter(({ _zod }) => _zod.def.type === 'string')
const sizes = ['max_length', 'min_length', 'overwrite']

/** What bodies alone limit: one look at each character. */
const plainRules = [
  "(text) => text.trim() !== ''",
  "(text) => !text.includes('\\0')",
  '(text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text)',
]
const isPlain = (fn: unknown) => plainRules.includes(String(fn).replaceAll('"', "'").replace("'\x00'", "'\\0'"))

/** It ends by itself after so many characters. */
const isBounded = (pattern?: RegExp) => pattern !== undefined && /^\^(\\.|[^*+,]|,(?!\}))*\$$/.test(pattern.source)

describe('texts of the contract', () => {
  it('are many', () => expect(texts.length).toBeGreaterThan(200))

  it('have a limit that ends all other checks, before any that looks at the text', () => {
    const bad = texts
      .map((schema) => checksOf(schema).map(({ _zod }) => _zod.def))
      .filter((checks) => {
        const limit = checks.findIndex(({ check }) => check === 'max_length')
        const look = checks.findIndex(
          ({ check, pattern, fn }) => !sizes.includes(check) && !isBounded(pattern) && !isPlain(fn),
        )
        if (look === -1) return limit !== -1 && checks[limit]?.abort !== true
        return limit === -1 || limit > look || checks[limit]?.abort !== true
      })
    expect(
      bad.map((checks) => checks.map(({ check, pattern, fn }) => `${check} ${pattern ?? String(fn ?? '')}`)),
    ).toEqual([])
  })

  it('are not looked at beyond it, neither by a rule of the text nor by one of its object', () => {
    const looks: string[] = []
    const note = (where: string) => () => {
      looks.push(where)
      return true
    }
    const schema = z.object({ name: limitedText(3).refine(note('text')) }).refine(note('object'))
    const result = parse(schema, { name: 'four' })
    expect(result.error?.issues.map(({ message }) => message)).toEqual(['must have at most 3 characters'])
    expect(looks).toEqual([])
    expect(parse(schema, { name: 'abc' }).success).toBe(true)
    expect(looks).toEqual(['text', 'object'])
  })
})
