import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOpenRedactor, createRedactor } from './redaction.ts'

const secret = 'p@ss word/with+"odd" chars'

/** Beginnings of secrets, each of which a pattern could try again at every repetition. */
const repeatedParts = [
  'a',
  'a.',
  'eyJa-',
  'sk-',
  'svc_',
  '-svc_',
  '-xoxb-',
  'a://',
  'secret ',
  'password="',
  '-----BEGIN ',
  'Bearer ',
]

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

  it('leaves values that are too short to be secrets', () => {
    expect(redact('a short story')).toBe('a short story')
  })

  it.each([
    'Authorization: Bearer abcdef1234567890',
    '{"authorization":"Basic dXNlcjpwYXNz"}',
    'x-api-key: 0123456789abcdef',
    // Put together here, so that no scanner takes the test for a leak.
    `key is sk-${'ant-api03'}-${'abcdef0123'.repeat(3)} ok`,
    `sk-proj-${'abcdefghijklmnopqrstuvw1'}`,
    `svc_${'abcdef0123'.repeat(5)}`,
    'ghp_abcdefghijklmnopqrstuvwxyz012345',
    'github_pat_11ABCDEFG0123456789_abcdefghij',
    'xoxb-123456789012-abcdefghijkl',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'password=hunter22',
    'DB_PASSWORD: "hunter22"',
    '{"client_secret":"abcdefgh"}',
    'AWS_SECRET_ACCESS_KEY=abc/def+ghijk',
    'postgres://user:hunter22@db.example/x',
    '{\\"password\\": \\"hunter22\\"}',
    'Authorization: Bearer abcdefgh12345678',
    'https://user:hunter22@host/x',
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
    'https://example.com/a@b and basic requirements',
    'svc_execution_event_stream_connections_current 1',
    'svc_api_request_duration_seconds_bucket{le="0.005"} 2',
    'class="sk-folding-cube-wrapper-outer"',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(createRedactor([])(text)).toBe(text)
  })

  it('removes single lines of a key that spans several', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'
    const clean = createRedactor([`-----BEGIN KEY-----\n${line}\nshort\n-----END KEY-----`])(`cat: ${line} and short`)
    expect(clean).toBe('cat: [REDACTED] and short')
  })

  it.each(repeatedParts)('takes long input of %j in linear time', (part) => {
    const redact = createRedactor(['abcdefgh'])
    expect(redact(part.repeat(1_000_000 / part.length)).length).toBeGreaterThan(0)
  })

  it('takes values that are not well-formed text', () => {
    expect(createRedactor(['broken\ud800value'])('a broken\ud800value b')).toBe('a [REDACTED] b')
  })
})

describe('a redactor for text that models read and write', () => {
  const redact = createRedactor(['known-value-1'], 'tokens')

  it.each([
    "const password = process.env.PASSWORD ?? 'changeme'",
    'password: z.string().min(8),',
    '{"client_secret":"abcdefgh"}',
    `headers: { Authorization: \`Bearer \${token}\`, "x-api-key": apiKey },`,
    "request.headers.authorization === 'Bearer test-token-of-the-suite-1'",
    `DATABASE_URL=postgres://\${user}:\${password}@localhost/app`,
    "if (pem.startsWith('-----BEGIN PRIVATE KEY-----')) return parse(pem)",
    'type Token = { secret: string; accessToken: string }',
  ])('leaves code alone: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  it.each([
    'the value is known-value-1',
    `ANTHROPIC_API_KEY=sk-${'ant-api03'}-${'abcdef0123'.repeat(3)}`,
    'git clone https://x:ghp_abcdefghijklmnopqrstuvwxyz012345@github.com/a/b',
    'xoxb-123456789012-abcdefghijkl',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEvQIBADANBgkq'.repeat(4)}\n-----END RSA PRIVATE KEY-----`,
    JSON.stringify(`-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkq'.repeat(4)}\n-----END PRIVATE KEY-----`),
  ])('removes what can only be a credential: %s [SECRET-008]', (text) => {
    const clean = redact(text)
    expect(clean).toContain('[REDACTED]')
    expect(clean).not.toMatch(/known-value|abcdef|123456789012|IOSFODNN|eyJzdWIi|MIIEvQ/)
  })
})

describe('a redactor for a line that is still being written', () => {
  const values = [secret, 'plainvalue123', 'value123plain', 'plain', 'nested-plainvalue123-end', 'aaaaaaab']
  const pieces = [
    ...values,
    'aaaa',
    'plainv',
    'word/with',
    `sk-${'ant-api03'}-${'abcdef0123'.repeat(3)}`,
    'sk-short',
    'svc_events',
    `svc_${'abcdef0123'.repeat(5)}`,
    'ghp_abcdefghijklmnopqrstuvwxyz012345',
    'github_pat_11ABCDEFG0123456789_abcdefghij',
    'glpat-abcdefgh01234567',
    'xoxb-123456789012-abcdefghijkl',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'AKIAIOSFODNN7EXAMPLE',
    'password=',
    'DB_PASSWORD: ',
    '"client_secret":',
    'api-key',
    'Authorization: ',
    'proxy-authorization=',
    'Bearer ',
    'digest ',
    'basic',
    'https://',
    'postgres://user:',
    'hunter22@db',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----END RSA PRIVATE KEY-----',
    '-----BEGIN',
    '---',
    '"',
    "'",
    '\\"',
    '\\',
    ' ',
    ':',
    '=',
    '@',
    '/',
    '{',
    'x',
    '7',
  ]
  const line = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), {
      maxLength: 12,
    })
    .map((parts) => parts.join('').replaceAll('\n', ' '))

  it.each(['all', 'tokens'] as const)(
    'shows only a beginning of the final redacted line [SECRET-008] (%s)',
    (level) => {
      const redact = createRedactor(values, level)
      const redactOpen = createOpenRedactor(values, level)
      fc.assert(
        fc.property(line, (text) => {
          const whole = redact(text)
          let length = 0
          for (let end = 0; end <= text.length; end += 1) {
            const shown = redactOpen(text.slice(0, end))
            if (!whole.startsWith(shown) || shown.length < length) {
              expect.fail(`${JSON.stringify(text.slice(0, end))} shows ${JSON.stringify(shown)}`)
            }
            length = shown.length
          }
        }),
        { numRuns: 300 },
      )
    },
  )

  it.each(['password="DB_PASSWORD: "client_secret":', 'password="DB_PASSWORD:"x', "secret='api_key= 'and more"])(
    'shows nothing of a secret in which another one seems to begin: %s',
    (text) => {
      const [redact, redactOpen] = [createRedactor([]), createOpenRedactor([])]
      for (let end = 0; end <= text.length; end += 1) expect(redact(text)).toContain(redactOpen(text.slice(0, end)))
    },
  )

  it('holds back nothing that cannot be part of a secret', () => {
    const redactOpen = createOpenRedactor(['plainvalue123'])
    for (const text of [
      'the answer is 42',
      'in plain words',
      'https://example.com/a?b',
      '今日は',
      'a: b',
      'tokens: 7',
    ]) {
      expect(redactOpen(text)).toBe(text)
    }
    expect(redactOpen('it is plainval')).toBe('it is ')
    expect(redactOpen('it is plainvalue123 and')).toBe('it is [REDACTED] and')
    expect(redactOpen('password: hunt')).toBe('password:')
    expect(redactOpen('password: hunter22 and')).toBe('password: [REDACTED] and')
  })

  it.each([...repeatedParts, 'password=', 'abcdefg'])('takes long input of %j in linear time', (part) => {
    const redactOpen = createOpenRedactor(['abcdefgh', 'a'.repeat(5000)])
    expect(typeof redactOpen(part.repeat(65_536 / part.length))).toBe('string')
  })
})
