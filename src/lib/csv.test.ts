import { describe, expect, it } from 'vitest'
import { formatCsv } from './csv.ts'

describe('comma-separated values', () => {
  it('quote what must be quoted, and make no formula of a name', () => {
    expect(
      formatCsv([
        ['name', 'cost'],
        ['a, "b"\nc', -1.5],
        ['=HYPERLINK("x")', undefined],
        ['@me', 0],
      ]),
    ).toBe('name,cost\r\n"a, ""b""\nc",-1.5\r\n"\'=HYPERLINK(""x"")",\r\n\'@me,0\r\n')
  })
})
