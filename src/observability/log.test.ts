import { describe, expect, it } from 'vitest'
import { createLog, type LogOptions } from './log.ts'

function collect(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'info', write: (line) => lines.push(line), ...options })
  return { log, lines }
}

describe('the log', () => {
  it('writes one JSON object per line with time, level, name and message', () => {
    const { log, lines } = collect()
    log.child({ name: 'http' }).info({ port: 8080 }, 'listening')
    expect(lines).toHaveLength(1)
    const entry = JSON.parse(lines[0] ?? '')
    expect(entry).toMatchObject({ level: 'info', name: 'http', message: 'listening', port: 8080 })
    expect(entry.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  it('omits lines below its level', () => {
    const { log, lines } = collect({ level: 'warn' })
    log.info('quiet')
    log.warn('loud')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['loud'])
  })

  it('removes the values of fields named like credentials, also one level down [SECRET-008]', () => {
    const { log, lines } = collect()
    log.info({ token: 'abc', request: { authorization: 'def', 'x-api-key': 'ghi' }, stringData: { k: 'jkl' } }, 'm')
    expect(lines[0]).not.toMatch(/abc|def|ghi|jkl/)
    expect(lines[0]).toContain('[REDACTED]')
  })

  it('removes credentials from messages and errors by their form [SECRET-008]', () => {
    const { log, lines } = collect()
    log.error(new Error('upstream said: Bearer abcdefghijklmnop refused'), 'call with sk-0bcdefghijklmnopqrst failed')
    expect(lines[0]).not.toMatch(/bcdefghijklmnop/)
  })

  it('stays valid JSON whatever is removed, at any depth [SECRET-008]', () => {
    const { log, lines } = collect()
    const deep = { a: { b: { dbPassword: 'hunter22', clientSecret: 12_345_678, kept: 1 } } }
    log.warn(
      { ...deep, body: '{"password": "hunter22"}', key: '-----BEGIN PRIVATE KEY-----\nabc' },
      'password: "hunter22"',
    )
    const entry = JSON.parse(lines[0] ?? '')
    expect(lines[0]).not.toMatch(/hunter22|12345678|abc/)
    expect(entry).toMatchObject({ a: { b: { kept: 1 } }, body: '{"password": "[REDACTED]"}' })
    expect(lines[0]?.endsWith('}\n')).toBe(true)
  })

  it('has no line that would take long to clean, and says where one was left out', () => {
    const { log, lines } = collect()
    log.child({ name: 'http' }).warn(`password: hunter22 ${'x'.repeat(1_048_576)}`)
    const { level, name, message } = JSON.parse(lines[0] ?? '')
    expect({ level, name }).toEqual({ level: 'warn', name: 'http' })
    expect(message).toMatch(/^a line of 1048\d{3} characters was left out of the log$/)
  })

  it('prints one readable line on a terminal, without control characters of the logged text', () => {
    const { log, lines } = collect({ pretty: true })
    log.child({ name: 'http' }).warn({ path: '/a b', code: 404 }, 'bad\u001b[2J\nnews')
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}http: bad \[2J news path="\/a b" code=404\n$/)
  })
})
