import { describe, expect, it } from 'vitest'
import { parseTokenExpiry, TokenCreate } from './tokens.ts'

const now = new Date('2026-01-01T00:00:00Z')

describe('tokens', () => {
  it.each([
    ['30d', '2026-01-31T00:00:00.000Z'],
    ['12h', '2026-01-01T12:00:00.000Z'],
    ['2026-06-01T00:00:00Z', '2026-06-01T00:00:00.000Z'],
  ])('that expire %s end at %s', (expires, end) => {
    expect(parseTokenExpiry(expires, now)?.toISOString()).toBe(end)
  })

  it.each(['0d', '0s', 'tomorrow', '-1h', '2026-13-45', '2026-02-30T00:00:00Z', '2026-2-1', ''])(
    'cannot expire %j',
    (expires) => {
      expect(parseTokenExpiry(expires, now)).toBeUndefined()
      expect(TokenCreate.safeParse({ name: 'a', expires }).success).toBe(false)
    },
  )

  it('use tools unless it is said otherwise', () => {
    expect(TokenCreate.parse({ name: 'a' })).toEqual({ name: 'a', serverTools: true })
  })

  it.each([
    [{ readOnly: true, role: 'editor' }, 'readOnly'],
    [{ role: 'owner', namespace: 'team' }, 'namespace'],
    [{ role: 'admin' }, 'role'],
  ])('cannot be %o', (rights, path) => {
    const problems = TokenCreate.safeParse({ name: 'a', ...rights }).error?.issues.map((issue) => issue.path.join('.'))
    expect(problems).toEqual([path])
  })
})
