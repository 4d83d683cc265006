import { describe, expect, it } from 'vitest'
import { deepestJson, isTooDeep, parseForeignJson } from './foreign-json.ts'

const nest = (levels: number, inside = '') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`

describe('JSON of foreign hands', () => {
  it('is read as deep as anybody means it, and no deeper', () => {
    expect(JSON.stringify(parseForeignJson(nest(deepestJson)))).toBe(nest(deepestJson))
    expect(parseForeignJson(nest(deepestJson + 1))).toBeUndefined()
    expect(parseForeignJson(`{"a":${nest(deepestJson)}}`)).toBeUndefined()
  })

  it('is not deep for brackets in its texts, nor for many things side by side', () => {
    const text = JSON.stringify({ a: '[{"'.repeat(2000), '\\"[[': `\\${'['.repeat(2000)}`, b: '\\' })
    expect(isTooDeep(text)).toBe(false)
    expect(isTooDeep(JSON.stringify(Array.from({ length: 5000 }, () => [{}])))).toBe(false)
    expect(isTooDeep(`[${text},${nest(deepestJson)}]`)).toBe(true)
  })

  it('that is none is nothing, whatever its end', () => {
    for (const text of ['', '{', '"', '\\', `${'['.repeat(400)}"`, `"${'\\'.repeat(3000)}`, nest(300).slice(0, -1)]) {
      expect(parseForeignJson(text)).toBeUndefined()
    }
  })
})
