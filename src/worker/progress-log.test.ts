import { describe, expect, it } from 'vitest'
import { createAgentProgressLog } from './progress-log.ts'

describe('what an agent program does', () => {
  const told: string[] = []
  const log = { write: (text: string) => void told.push(text), begin: () => undefined, finish: async () => '' }
  const clock = { now: () => new Date(0), sleep: async () => undefined }
  const redact = (text: string) => text.replaceAll('made-up', '***')
  const tell = createAgentProgressLog({ log, clock, redact }, 'main/large')
  const listTold = (act: () => void) => {
    told.length = 0
    act()
    return told
  }

  it('is told line by line, whatever it is called with', () => {
    const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown
    const inputs = [{ path: 'a\nb' }, undefined, deep, 'x'.repeat(1000)]
    const lines = listTold(() => {
      for (const [at, input] of inputs.entries()) tell({ type: 'tool_started', id: String(at), name: 'Do\nit', input })
    })
    expect(lines.slice(0, 3)).toEqual(['[Do it {"path":"a\\nb"}]', '[Do it]', '[Do it ...]'])
    expect(lines[3]?.length).toBeLessThan(400)
  })

  it('is told without a secret at the place where it is cut', () => {
    const input = `${'x'.repeat(295)}made-up${'x'.repeat(50)}`
    const [line] = listTold(() => tell({ type: 'tool_started', id: 'cut', name: 'Do', input }))
    expect(line).not.toContain('made')
  })

  it('is not remembered without end', () => {
    const lines = listTold(() => {
      for (let id = 0; id < 5000; id += 1) tell({ type: 'tool_started', id: String(id), name: 'Do', input: {} })
      for (let id = 0; id < 5000; id += 1) tell({ type: 'tool_ended', id: String(id), isError: false })
    })
    expect(lines.filter((line) => line === '[Do: ok, 0 ms]')).toHaveLength(1000)
  })
})
