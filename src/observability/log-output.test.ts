import { describe, expect, it } from 'vitest'
import { createLogOutput } from './log-output.ts'

describe('the place of the log', () => {
  it('loses lines while nothing can be written, and says how many once something can', () => {
    const written: string[] = []
    let isFull = false
    const output = createLogOutput((line) => {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
      written.push(line)
    })
    output('one\n')
    isFull = true
    output('two\n')
    output('three\n')
    isFull = false
    output('four\n')
    output('five\n')
    expect(written.map((line) => line.replace(/"time":"[^"]*"/, '"time":""'))).toEqual([
      'one\n',
      '{"level":"warn","time":"","message":"2 lines of the log were lost: they could not be written"}\n',
      'four\n',
      'five\n',
    ])
  })
})
