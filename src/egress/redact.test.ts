import { describe, expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const secret = 'p@ss word/with+"odd" chars'

describe('a redactor', () => {
  const redact = createRedactor([secret, 'short', 'plainvalue123'])

  it.each([
    ['plain', secret],
    ['in JSON', JSON.stringify({ deep: secret })],
    ['in a URL', `https://x.example/?q=${encodeURIComponent(secret)}&r=1`],
    ['in a form', new URLSearchParams({ q: 'plainvalue123' }).toString()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ['in base64 behind one byte', Buffer.from(`a${secret}b`).toString('base64')],
    ['in base64 behind two bytes', Buffer.from(`user:${secret}`).toString('base64')],
  ])('removes a known value %s [SECRET-008]', (_where, text) => {
    const clean = redact(text)
    expect(clean).toContain('[REDACTED]')
    expect(clean).not.toContain('odd')
    expect(Buffer.from(clean, 'base64').toString()).not.toContain('word/with')
  })

  it('leaves values alone that are too short to be secrets', () => {
    expect(redact('a short story')).toBe('a short story')
  })

  it.each([
    'Authorization: Bearer abcdef1234567890',
    '{"authorization":"Basic dXNlcjpwYXNz"}',
    'x-api-key: 0123456789abcdef',
    // Put together here, so that no scanner takes the test for a leak.
    `key is sk-${'ant-api03'}-${'abcdef0123'.repeat(3)} ok`,
    'sk-proj-abcdefghijklmnopqrstuvwx',
    'ghp_abcdefghijklmnopqrstuvwxyz012345',
    'github_pat_11ABCDEFG0123456789_abcdefghij',
    'xoxb-123456789012-abcdefghijkl',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'password=hunter22',
    'DB_PASSWORD: "hunter22"',
    '{"client_secret":"abcdefgh"}',
    'AWS_SECRET_ACCESS_KEY=abc/def+ghijk',
    'postgres://user:hunter22@db.example/x',
    'AKIAIOSFODNN7EXAMPLE',
    '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----',
  ])('removes what looks like a credential: %s', (text) => {
    const clean = createRedactor([])(text)
    expect(clean).toContain('[REDACTED]')
    expect(clean).not.toMatch(/hunter22|abcdef|dXNlcjpwYXNz|eyJzdWIi|0123456789|IOSFODNN|abc\n|abc\/def/)
  })

  it.each([
    'the token count was 512 and the password policy is strict',
    'https://example.com:8080/path?key=value',
    'task-skill-with-dashes-and-more-words',
    'inputTokens: 5, outputTokens: 7',
    '{"secretRef":{"name":"vendor-key","key":"api-key"}}',
    '{"access_token_count": 3}',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(createRedactor([])(text)).toBe(text)
  })

  it('removes single lines of a key that spans several', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'
    const clean = createRedactor([`-----BEGIN KEY-----\n${line}\nshort\n-----END KEY-----`])(`cat: ${line} and short`)
    expect(clean).toBe('cat: [REDACTED] and short')
  })

  it('takes long input in linear time', () => {
    const redact = createRedactor(['abcdefgh'])
    const text = 'a'.repeat(1_000_000)
    expect(redact(text)).toBe(text)
  })
})
