import { describe, expect, it } from 'vitest'
import { formatAge, formatData, formatFields, formatTable } from './output.ts'

const columns = [
  { title: 'NAME', value: (item: { name: string; text?: string }) => item.name },
  { title: 'TEXT', value: (item: { name: string; text?: string }) => item.text },
]

describe('a table', () => {
  it('is as wide as its cells need, without trailing blanks', () => {
    const items = [{ name: 'a', text: 'one' }, { name: 'longer' }]
    expect(formatTable(items, columns)).toBe('NAME    TEXT\na       one\nlonger')
  })

  it('puts each cell on one line whatever it contains', () => {
    expect(formatTable([{ name: 'a\n\u001b[2Jb', text: '' }], columns)).toContain('a [2Jb')
  })

  it('cuts its last column at the width of the terminal, and nothing else', () => {
    const items = [{ name: 'a', text: 'x'.repeat(100) }]
    const [, row = ''] = formatTable(items, columns, 30).split('\n')
    expect(row).toHaveLength(30)
    expect(row.endsWith('…')).toBe(true)
    expect(formatTable(items, columns)).toContain('x'.repeat(100))
  })
})

describe('other output', () => {
  it('is JSON or YAML for programs, and nothing where a table is asked for', async () => {
    expect(await formatData('json', { a: 1 })).toBe('{\n  "a": 1\n}')
    expect(await formatData('yaml', { a: [1] })).toBe('a:\n  - 1')
    expect(await formatData('table', {})).toBeUndefined()
  })

  it('omits fields without a value', () => {
    const text = formatFields([
      ['name', 'x'],
      ['message', undefined],
      ['count', 0],
    ])
    expect(text).toBe('name:  x\ncount: 0')
  })

  it.each([
    ['2030-01-01T00:00:00Z', '5s'],
    ['2029-12-31T23:00:00Z', '1h'],
    ['2029-12-01T00:00:00Z', '31d'],
    ['2031-01-01T00:00:00Z', '0s'],
  ])('shows %s as %s old', (timestamp, age) => {
    expect(formatAge(timestamp, new Date('2030-01-01T00:00:05Z'))).toBe(age)
  })
})
