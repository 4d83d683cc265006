import { describe, expect, it } from 'vitest'
import {
  isSameRepository,
  readGitAddress,
  readRepositoryUrl,
  repositoryKey,
  repositoryUrlOf,
} from './repository-url.ts'

const hosts = ['github.com', 'ghe.example.com', 'localhost:8443']
const repository = { host: 'github.com', owner: 'acme', name: 'site' }

function read(text: string) {
  const answer = readRepositoryUrl(text, hosts)
  return 'repository' in answer ? answer.repository : answer.problem
}

describe('the address of a repository', () => {
  it.each([
    ['https://github.com/acme/site', repository],
    ['https://github.com/acme/site.git', repository],
    ['git@github.com:acme/site.git', repository],
    ['https://github.com/acme/site/', repository],
    ['https://GitHub.com/acme/site', repository],
    ['HTTPS://github.com/acme/site', repository],
    ['git@github.com:acme/site', repository],
    ['https://ghe.example.com/acme/site', { ...repository, host: 'ghe.example.com' }],
    ['https://localhost:8443/acme/site', { ...repository, host: 'localhost:8443' }],
    ['https://github.com/Acme/a.b_c-d', { host: 'github.com', owner: 'Acme', name: 'a.b_c-d' }],
    ['https://github.com/acme/pull', { ...repository, name: 'pull' }],
  ])('may be %s', (text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it.each([
    ['https://github.com/acme/site/pull/7', 'names a pull request'],
    ['https://github.com/acme/site/pulls', 'names pull requests'],
    ['https://github.com/acme/site/issues/7', 'names an issue'],
    ['https://github.com/acme/site/tree/main', 'names a branch'],
    ['https://github.com/acme/site/tree/main/src', 'names a branch'],
    ['https://github.com/acme/site/blob/main/README.md', 'names a file'],
    ['https://github.com/acme/site/raw/main/README.md', 'names a file'],
    ['https://github.com/acme/site/commit/0123abc', 'names a commit'],
    ['https://github.com/acme/site/commits/main', 'names commits'],
    ['https://github.com/acme/site/actions/runs/1', 'names the page actions/runs/1'],
    ['https://github.com/acme/site//', 'names the page'],
    ['https://github.com/acme/site?tab=readme', 'has a query string'],
    ['https://github.com/acme/site?', 'has a query string'],
    ['https://github.com?x=/acme/site', 'has a query string'],
    ['https://github.com/acme/site#readme', 'has a fragment'],
    ['https://github.com/acme/site#', 'has a fragment'],
    ['git@github.com:acme/site.git#main', 'has a fragment'],
    ['https://example.com/acme/site', 'must be on a host of the code host (github.com, ghe.example.com'],
    ['https://github.com.evil.test/acme/site', 'must be on a host of the code host'],
    ['https://github.com:8443/acme/site', 'must be on a host of the code host'],
    ['https://github.com\\@evil.test/acme/site', 'has a login in it'],
    ['git@example.com:acme/site.git', 'must be on a host of the code host'],
    ['http://github.com/acme/site', 'uses plain HTTP'],
    ['ssh://github.com/acme/site', 'uses ssh://'],
    ['ssh://git@github.com/acme/site', 'has a login in it'],
    ['git://github.com/acme/site', 'uses git://'],
    ['file:///acme/site', 'uses file://'],
    ['https://user:secret@github.com/acme/site', 'has a login in it'],
    ['https://token@github.com/acme/site', 'has a login in it'],
    ['https://@evil.test/acme/site', 'must be on a host of the code host'],
    ['https://github.com/acme', 'names no owner and repository'],
    ['https://github.com', 'names no owner and repository'],
    ['https://github.com//site', 'names no owner and repository'],
    ['https://github.com/acme/..', 'names no owner and repository'],
    ['https://github.com/../site', 'names no owner and repository'],
    ['https://github.com/acme/.git', 'names no owner and repository'],
    ['https://github.com/acme/si%2fte', 'names no owner and repository'],
    ['https://github.com/acme/site ', 'names no owner and repository'],
    [' https://github.com/acme/site', 'is not the address of a repository'],
    ['https://github.com/acme/site\n', 'names no owner and repository'],
    ['https://github.com/acme/sité', 'names no owner and repository'],
    ['github.com/acme/site', 'is not the address of a repository'],
    ['acme/site', 'is not the address of a repository'],
    ['root@github.com:acme/site.git', 'is not the address of a repository'],
    ['', 'is not the address of a repository'],
  ])('may not be %j', (text, words) => {
    const problem = read(text)
    expect(problem).toContain(words)
    expect(problem).toContain('write https://<host>/<owner>/<repo>, the same with .git, or git@<host>:')
  })

  it('is one repository however it is written', () => {
    const [one, other] = [read('https://github.com/Acme/Site'), read('git@github.com:acme/site.git')]
    if (typeof one === 'string' || typeof other === 'string') throw new Error('both are addresses')
    expect(isSameRepository(one, other)).toBe(true)
    expect(isSameRepository(one, { ...other, host: 'ghe.example.com' })).toBe(false)
    expect(repositoryKey(one)).toBe('acme/site')
    expect(repositoryUrlOf(one)).toBe('https://github.com/Acme/Site')
  })
})

it.each([
  ['http://a.example:8080/b/?q=1#c', 'http://a.example:8080/b'],
  ['https://A.example/owner/b.git', 'https://a.example/owner/b.git'],
  ['git@a.example:owner/b.git', 'https://a.example/owner/b.git'],
  ['git@a.example:/srv/b.git', 'https://a.example/srv/b.git'],
  ['ssh://git@a.example:22/owner/b', 'https://a.example/owner/b'],
])('%s is dialled as %s', (text, dialled) => expect(readGitAddress(text)?.href).toBe(dialled))

it.each([
  'https://me:secret@a.example/b',
  'https://token@a.example/b',
  'ssh://git:secret@a.example/b',
  'git://a.example/b',
  'file:///srv/b',
  'ext::sh -c x',
  '--upload-pack=x@h:y',
  'me@evil.example@a.example:b',
  'https://a.example/b c',
  'b',
])('%s is refused', (text) => expect(readGitAddress(text)).toBeUndefined())
