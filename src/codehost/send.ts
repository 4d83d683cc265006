// One request to the API of a code host: signed in anew, not sent while the host limits the login, ended when it takes too long.
import type { RequestInterface } from '@octokit/types'
import type { Repository } from '../contract/values/repository-url.ts'
import { isCodeHostError } from '../ports/codehost/code-host.ts'
import { explainCodeHostFault, rateLimited } from './faults.ts'
import type { SignedIn } from './sign-in.ts'

type Headers = Record<string, string | number | undefined>
type Answer = { status: number; headers: Headers; data: unknown }
type SendOptions = { headers?: Record<string, string>; redirect?: 'manual'; signedIn?: SignedIn }

/** Owner and name of the repository are filled in. Rejects with a CodeHostError, or the reason of the caller's signal. */
export type Send = (route: string, parameters: object, options?: SendOptions) => Promise<Answer>

export type SendDeps = {
  repository: Repository
  signIn(): Promise<SignedIn>
  /** Signed in, to the API of the repository's host. */
  open(signedIn: SignedIn): Promise<RequestInterface>
  limits: LoginLimits
  signal?: AbortSignal | undefined
  timeoutMs: number
}

const unchanged: Answer = { status: 304, headers: {}, data: undefined }

export function createSend({ repository, signIn, open, limits, signal, timeoutMs }: SendDeps): Send {
  const { host, owner, name: repo } = repository

  function request(redirect: 'manual' | undefined, timeout: AbortSignal) {
    const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
    return { signal: ends, ...(redirect && { redirect }) }
  }

  function explain(error: unknown, { key, login, timedOut }: { key: string; login: boolean; timedOut: boolean }) {
    const fault = explainCodeHostFault(error, { host, login, timedOut })
    if (isCodeHostError(fault, 'HeldUp')) limits.limitUntil(key, Date.parse(fault.heldUpUntil ?? ''))
    return fault
  }

  return async (route, parameters, { headers = {}, redirect, signedIn: known } = {}) => {
    const signedIn = known ?? (await signIn())
    const key = `${signedIn.key} ${route.endsWith('/graphql') ? 'graphql' : 'core'}`
    limits.check(key, host)
    const send = await open(signedIn)
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const call = { owner, repo, ...parameters, headers, request: request(redirect, timeout) }
      const answer = await send(route, call)
      limits.note(key, answer.headers)
      return answer
    } catch (error) {
      signal?.throwIfAborted()
      if ((error as { status?: number }).status === 304) return unchanged
      throw explain(error, { key, login: signedIn.key !== '', timedOut: timeout.aborted })
    }
  }
}

// Until when a login may not call: what a code host said once counts for every later call, which is then not sent at all.

type LoginLimits = {
  /** Throws HeldUp while the login has to wait. */
  check(name: string, host: string): void
  limitUntil(name: string, until: number): void
  /** The last call that was allowed says when the next one is. */
  note(name: string, headers: Headers): void
}

export function createLoginLimits(now: () => number): LoginLimits {
  const limits = new Map<string, number>()
  const limitUntil = (name: string, until: number) => void limits.set(name, Math.max(until, limits.get(name) ?? 0))
  return {
    check(name, host) {
      const until = limits.get(name)
      if (until === undefined) return
      if (until > now()) throw rateLimited(host, until)
      limits.delete(name)
    },
    limitUntil,
    note(name, headers) {
      const reset = Number(headers['x-ratelimit-reset']) * 1000
      if (String(headers['x-ratelimit-remaining']) === '0' && reset > now()) limitUntil(name, reset)
    },
  }
}
