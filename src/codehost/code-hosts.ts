// GitHub and GitHub Enterprise through Octokit's client; every connection goes through the service's dialer.
import { type Repository, repositoryUrlOf } from '../contract/values/repository-url.ts'
import { readWhole } from '../lib/bounded-body.ts'
import {
  type CodeHost,
  CodeHostError,
  type CodeHostLogin,
  type CodeHosts,
  isCodeHostError,
  type RepositoryPermission,
} from '../ports/codehost/code-host.ts'
import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import { type Calls, createCalls, createKnownAnswers } from './calls.ts'
import { createCodeScanningCalls } from './code-scanning.ts'
import { createIssueCalls } from './issues.ts'
import { createPullRequestCalls, createReviewCalls } from './pull-requests.ts'
import { createLoginLimits, createSend } from './send.ts'
import { toLogin, toPermission, toRepository } from './shapes.ts'
import { createSignIn, type SignedIn } from './sign-in.ts'

export type CodeHostsOptions = {
  hosts: readonly string[]
  /** By host, where it is not the usual one; the machine's owner vouches for these. */
  apiUrls: Readonly<Record<string, string>>
  egress: Egress
  policy: Pick<EgressPolicy, 'allowNetworks' | 'deny'>
  now(): number
  /** Default: a timer. */
  pause?(ms: number): Promise<void>
  /** How long one call may take; default: 30 seconds. */
  callTimeoutMs?: number
}

const maxAnswerBytes = 10 * 1024 * 1024

/** https://docs.github.com/en/enterprise-server@latest/rest/enterprise-admin, section "Endpoint URLs". */
function defaultApiUrl(host: string): string {
  return host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`
}

function graphqlUrlOf({ href }: URL): string {
  return href
    .replace(/\/$/, '')
    .replace(/\/api\/v3$/, '/api')
    .concat('/graphql')
}

export function createCodeHosts(options: CodeHostsOptions): CodeHosts {
  const { hosts, apiUrls, egress, policy, now, callTimeoutMs = 30_000 } = options
  const pause = options.pause ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  const answers = createKnownAnswers()
  const limits = createLoginLimits(now)

  function apiUrl(host: string): URL {
    if (!hosts.includes(host))
      throw new CodeHostError('NotFound', `${host} is no host of the code host (${hosts.join(', ')})`)
    return new URL(apiUrls[host] ?? defaultApiUrl(host))
  }

  function fetchOf(host: string): typeof globalThis.fetch {
    const trusted = apiUrls[host] === undefined ? {} : { trusted: apiUrl(host).origin }
    const { allowNetworks, deny } = policy
    return boundAnswers(egress.fetchWith({ allowNetworks, deny, ...trusted }), maxAnswerBytes)
  }

  const fetchAnywhere: typeof globalThis.fetch = (input, init) => {
    const origin = new URL(String(input)).origin
    const host = hosts.find((one) => apiUrl(one).origin === origin) ?? hosts[0] ?? ''
    return fetchOf(host)(input, init)
  }
  const signing = createSignIn({ apiUrl, fetch: fetchAnywhere, now })

  async function openClient(host: string, { token }: SignedIn) {
    const { request } = await import('@octokit/request')
    return request.defaults({
      baseUrl: apiUrl(host).href.replace(/\/$/, ''),
      headers: {
        'user-agent': 'svc',
        'x-github-api-version': '2022-11-28',
        ...(token !== undefined && { authorization: `bearer ${token}` }),
      },
      request: { fetch: fetchOf(host) },
    })
  }

  return {
    hosts,
    apiUrl,
    open(repository, login) {
      const { host } = repository
      const graphqlUrl = graphqlUrlOf(apiUrl(host))
      const signIn = async () => signing.signIn(repository, await login.readCredentials())
      const open = (signedIn: SignedIn) => openClient(host, signedIn)
      const send = createSend({
        repository,
        signIn,
        open,
        limits,
        signal: login.signal,
        timeoutMs: callTimeoutMs,
      })
      const calls = createCalls({ repository, send, signIn, graphqlUrl, answers, pause })
      return {
        repository,
        ...createPullRequestCalls(calls),
        ...createReviewCalls(calls),
        ...createIssueCalls(calls),
        ...createCodeScanningCalls(calls),
        ...createRepositoryCalls(calls, login, signing.nameApp),
      }
    },
    async gitPassword(repository, credentials) {
      const { token } = await signing.signIn(repository, credentials)
      if (token === undefined)
        throw new CodeHostError('LoginRefused', `there is no login for ${repositoryUrlOf(repository)}`)
      return token
    },
  }
}

type NameApp = (repository: Repository, credentials: never) => Promise<string>

function createRepositoryCalls(calls: Calls, login: CodeHostLogin, nameApp: NameApp) {
  const { repository } = calls
  return {
    async getLogin(): Promise<string> {
      const credentials = await login.readCredentials()
      if (credentials === undefined)
        throw new CodeHostError('LoginRefused', `nobody is signed in to ${repository.host}`)
      if (credentials.kind === 'app') return nameApp(repository, credentials as never)
      return calls.get('GET /user', {}, toLogin)
    },
    getRepository: () => calls.get('GET /repos/{owner}/{repo}', {}, (data) => toRepository(repository.host, data)),
    async getPermission(user: string): Promise<RepositoryPermission> {
      try {
        const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
        return await calls.get(route, { username: user }, toPermission)
      } catch (error) {
        if (isCodeHostError(error, 'NotFound')) return 'none'
        throw error
      }
    },
  } satisfies Partial<CodeHost>
}

// The dialer's fetch with an upper limit of bytes for each answer.

function refuseSize(maxBytes: number): CodeHostError {
  const limit = `${Math.floor(maxBytes / 1024 / 1024)} MiB`
  return new CodeHostError('TooLarge', `the code host's answer is larger than ${limit}, which is all that is read`)
}

/**
 * `maxBytes` counts after decompression. The answer is read whole before it is passed on, because Octokit takes a body
 * that breaks off for an empty one.
 */
function boundAnswers(dial: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await dial(input, init)
    if (answer.body === null) return answer
    const { status, statusText, headers } = answer
    const body = await readWhole(answer.body, maxBytes, () => refuseSize(maxBytes))
    return new Response(body.byteLength === 0 ? null : new Uint8Array(body), { status, statusText, headers })
  }
}
