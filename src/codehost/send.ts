// One request to the API of a code host: signed in anew, not sent while the host holds the login up, ended when it takes too long.
import type { RequestInterface } from '@octokit/types'
import type { Repository } from '../contract/values/repository-url.ts'
import { isCodeHostError } from '../ports/codehost/code-host.ts'
import { explainFault } from './faults.ts'
import type { Holds } from './holds.ts'
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
  holds: Holds
  signal?: AbortSignal | undefined
  timeoutMs: number
}

const unchanged: Answer = { status: 304, headers: {}, data: undefined }

export function createSend({ repository, signIn, open, holds, signal, timeoutMs }: SendDeps): Send {
  const { host, owner, name: repo } = repository

  function request(redirect: 'manual' | undefined, timeout: AbortSignal) {
    const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
    return { signal: ends, ...(redirect && { redirect }) }
  }

  function explain(error: unknown, { hold, login, timedOut }: { hold: string; login: boolean; timedOut: boolean }) {
    const fault = explainFault(error, { host, login, timedOut })
    if (isCodeHostError(fault, 'HeldUp')) holds.hold(hold, Date.parse(fault.heldUpUntil ?? ''))
    return fault
  }

  return async (route, parameters, { headers = {}, redirect, signedIn: known } = {}) => {
    const signedIn = known ?? (await signIn())
    const hold = `${signedIn.key} ${route.endsWith('/graphql') ? 'graphql' : 'core'}`
    holds.check(hold, host)
    const send = await open(signedIn)
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const call = { owner, repo, ...parameters, headers, request: request(redirect, timeout) }
      const answer = await send(route, call)
      holds.note(hold, answer.headers)
      return answer
    } catch (error) {
      signal?.throwIfAborted()
      if ((error as { status?: number }).status === 304) return unchanged
      throw explain(error, { hold, login: signedIn.key !== '', timedOut: timeout.aborted })
    }
  }
}
