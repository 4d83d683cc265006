import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxSearchedLength, queryTerms, searchTerms, splitTerms } from './search-terms.ts'

it.each([
  ['failed tests', ['failed', 'tests']],
  ['"failed tests" deploy', ['failed tests', 'deploy']],
  ['deploy"failed tests"now', ['deploy', 'failed tests', 'now']],
  ['"not closed', ['not closed']],
  ['a A "a"', ['a']],
  ['  \t"" " " ', []],
  ['NEAR(a* OR b)', ['NEAR(a*', 'OR', 'b)']],
])('splits %j', (query, terms) => {
  expect(splitTerms(query)).toEqual(terms)
})

/** Whether a text is among what the query looks for. */
function finds(query: string, text: string): boolean {
  const terms = new Set(searchTerms(text))
  return queryTerms(query).some((term) => terms.has(term))
}

describe('terms of a text', () => {
  it.each([
    ['connected connections', ['connect', 'connect']],
    ['Café NAÏVE ﬁle', ['cafe', 'naiv', 'file']],
    ["the boundary's edge; don't", ['the', 'boundari', 'edg', 'dont']],
    ['release 2.5 at 10.0.0.1, 12:30', ['releas', '2.5', 'at', '10.0.0.1', '12:30']],
    ['東京タ', ['東', '京', 'タ', '東京', '京タ']],
    ['snake_case', ['snakecas', 'snake', 'case']],
    ['parseQuery', ['parsequeri', 'pars', 'queri']],
    ['HTTPServer', ['httpserver', 'http', 'server']],
    ['src/app.config.ts', ['srcappconfigt', 'src', 'appconfigt', 'app', 'config', 'ts']],
    ['v2.4.0', ['v240', 'v2', '4', '0', '2.4.0']],
    ['10.0.0.7:8443', ['10.0.0.7:8443', '8443', '10.0.0.7']],
    ['python3 utf8 x1', ['python3', 'python', 'utf8', 'utf', 'x1']],
    ['🚀', ['🚀']],
    ['a\0b\ud800c', ['a', 'b', 'c']],
    ['" * ( ) AND NOT', ['and', 'not']],
    ['... --- \0', []],
  ])('of %j', (text, terms) => {
    expect(searchTerms(text)).toEqual(terms)
  })

  it.each([
    ['connecting', 'all connections are closed'],
    ['parse_query', 'call parseQuery first'],
    ['query', 'call parseQuery first'],
    ['search-terms.ts', 'see src/rules/memory/search-terms.ts'],
    ['resume', 'a résumé'],
    ['東京', '明日東京に行く'],
    ['猫', '黒猫がいる'],
    ['검색', '한국어검색'],
    ['10.0.0.7', 'the gateway is at 10.0.0.7:8443 today'],
    ['8443', 'the gateway is at 10.0.0.7:8443 today'],
    ['10.0.0.7', 'allow 10.0.0.7/24'],
    ['10.0.0.7', 'http://10.0.0.7:8443/health'],
    ['8080', 'publish 8080:80'],
    ['localhost', 'it listens on localhost:3000'],
    ['2.4.0', 'tag v2.4.0 is broken'],
    ['v2.4.0', 'release 2.4.0 is broken'],
    ['2.4.0', 'registry.example.com/team/app:v2.4.0@sha256:3f9c'],
    ['1.25.3', 'nginx:1.25.3-alpine'],
    ['nginx', 'nginx:1.25.3-alpine'],
    ['team/app', 'registry.example.com/team/app:latest'],
    ['python', 'needs python3.12'],
    ['3.12', 'needs python3.12'],
    ['ada.lovelace@example.com', 'write to ada.lovelace@example.com.'],
    ['lovelace', 'write to ada.lovelace@example.com'],
    ['example.com', 'write to ada.lovelace@example.com'],
    ['getUserById', 'get_user_by_id is slow'],
    ['user', 'getUserById is slow'],
    ['get-user-by-id', 'getUserById is slow'],
    ['database', 'set DATABASE_URL'],
    ['worker', 'worker12 is down'],
  ])('a query for %s finds "%s"', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })

  it('does not find a text that only has a character of the query', () => {
    expect(finds('東京', '京都')).toBe(false)
  })

  it('looks for words of grammar only when there are no others', () => {
    expect(queryTerms('What is the port of the server?')).toEqual(['port', 'server'])
    expect(queryTerms('to be')).toEqual(['to', 'be'])
  })

  it('looks for each term once, and for no more than 64', () => {
    expect(queryTerms('ports port PORT')).toEqual(['port'])
    expect(queryTerms(Array.from({ length: 500 }, (_, at) => `w${at}`).join(' '))).toHaveLength(64)
  })

  it('has terms of the same kind for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const term of searchTerms(text)) {
          expect(term).toMatch(/^(?:[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}|\d+(?:[.:]\d+)+)$/u)
          expect(term.length).toBeLessThanOrEqual(64)
          expect(term.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it.each(['a/', 'a', 'aB', 'a_', '東', 'word and ', "a'", '.', 'a\u0301'])(
    'reads a body of 15 MiB of %j no further than it searches',
    (part) => {
      const terms = searchTerms(part.repeat((15 * 1_048_576) / part.length))
      expect(terms.length).toBeLessThanOrEqual(2 * maxSearchedLength)
    },
  )
})
