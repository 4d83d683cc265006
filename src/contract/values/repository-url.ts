// The address of a repository: any that git can clone, and one on the code host: its root and nothing else (MON-054..066, CODEHOST-021).
import { trimTrailing } from '../../lib/trim.ts'

/** `host` is lower-case, with its port if it has one; `owner` and `name` are as they were written, without `.git`. */
export type Repository = { host: string; owner: string; name: string }

/** What an address names, or why it names none. */
export type ReadRepository = { repository: Repository } | { problem: string }

const accepted = 'https://<host>/<owner>/<repo>, the same with .git, or git@<host>:<owner>/<repo>.git'
const part = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

/** Scheme, login, host and path of what is written; undefined: neither of the two forms. */
function split(text: string): { login: string; host: string; path: string; scheme: string } | undefined {
  const scp = /^git@([^/?#@\s:]+):(.*)$/s.exec(text)
  if (scp !== null) return { scheme: 'https', login: '', host: scp[1] ?? '', path: scp[2] ?? '' }
  const [all, scheme = '', login = '', host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)\/?(.*)$/is.exec(text) ?? []
  return all === undefined ? undefined : { scheme: scheme.toLowerCase(), login, host, path }
}

const pages: Record<string, string> = {
  pull: 'a pull request',
  pulls: 'pull requests',
  issues: 'an issue',
  tree: 'a branch',
  blob: 'a file',
  raw: 'a file',
  commit: 'a commit',
  commits: 'commits',
}

function findPathProblem(path: string): string | undefined {
  if (path.includes('?')) return 'has a query string'
  if (path.includes('#')) return 'has a fragment'
  const [owner = '', name = '', page, ...rest] = path.replace(/\/$/, '').split('/')
  if (page !== undefined) {
    const what = pages[page] ?? `the page ${[page, ...rest].join('/').slice(0, 100)} of a repository`
    return `names ${what}, not the root of a repository`
  }
  return part.test(owner) && part.test(name.replace(/\.git$/, '')) ? undefined : 'names no owner and repository'
}

/**
 * The repository that an address names. `hosts`: those of the code host, lower-case. The problem is the end of a sentence that
 * begins with the field's name, and says what is accepted.
 */
export function readRepositoryUrl(text: string, hosts: readonly string[]): ReadRepository {
  const refuse = (why: string): ReadRepository => ({ problem: `${why}; write ${accepted}` })
  const parts = split(text)
  if (parts === undefined) return refuse('is not the address of a repository')
  if (parts.login !== '') return refuse('has a login in it, which belongs in a Secret')
  if (parts.scheme === 'http') return refuse('uses plain HTTP')
  if (parts.scheme !== 'https') return refuse(`uses ${parts.scheme}://`)
  const host = parts.host.toLowerCase()
  if (!hosts.includes(host)) return refuse(`must be on a host of the code host (${hosts.join(', ')})`)
  const problem = findPathProblem(parts.path)
  if (problem !== undefined) return refuse(problem)
  const [owner = '', name = ''] = parts.path.split('/')
  return { repository: { host, owner, name: name.replace(/\.git$/, '') } }
}

/** `owner/name` in lower case: the same for every way to write the address. The code host ignores case. */
export function repositoryKey({ owner, name }: Pick<Repository, 'owner' | 'name'>): string {
  return `${owner}/${name}`.toLowerCase()
}

/** Where it is found, as people and git write it. */
export function repositoryUrlOf({ host, owner, name }: Repository): string {
  return `https://${host}/${owner}/${name}`
}

/** Whether both name one repository. */
export function isSameRepository(one: Repository, other: Repository): boolean {
  return one.host === other.host && repositoryKey(one) === repositoryKey(other)
}

const scp = /^[A-Za-z0-9_][A-Za-z0-9._-]*@([A-Za-z0-9.-]+):([^\s\0:][^\s\0]*)$/

function parse(text: string): URL | null {
  const [, host, path] = scp.exec(text) ?? []
  if (host !== undefined) return URL.parse(`https://${host}/${path?.replace(/^\/+/, '')}`)
  const url = /[\s\0]/.test(text) ? null : URL.parse(text)
  if (url === null || url.password !== '') return null
  if (/^https?:$/.test(url.protocol)) return url.username === '' ? url : null
  return url.protocol === 'ssh:' ? URL.parse(`https://${url.hostname}${url.pathname}`) : null
}

/**
 * What is dialled, without a trailing slash, query and fragment: `https://` or `http://`, as which `git@host:path` and
 * `ssh://` are dialled too. Undefined: not the address of a repository, or one with a login in it.
 */
export function readGitAddress(text: string): URL | undefined {
  const url = parse(text)
  if (url === null) return undefined
  url.search = ''
  url.hash = ''
  url.pathname = trimTrailing(url.pathname, '/')
  return url
}
