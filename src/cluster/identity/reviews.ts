// Whom a token belongs to and what that user may do, as the API server answers: cached for a short time and up to a
// fixed size, and requested once for concurrent callers.
import { isSvcError, SvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { KubernetesApi } from '../api.ts'

const collections = {
  TokenReview: { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews' },
  SubjectAccessReview: { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews' },
} as const

/** authentication.k8s.io/v1 TokenReviewStatus. */
export type TokenReviewStatus = {
  authenticated?: boolean
  error?: string
  user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
}

/** authorization.k8s.io/v1 SubjectAccessReviewStatus. */
export type AccessReviewStatus = { allowed?: boolean; denied?: boolean; reason?: string; evaluationError?: string }

type StatusOf = { TokenReview: TokenReviewStatus; SubjectAccessReview: AccessReviewStatus }

/** Asks one question; Unavailable when that fails. */
export async function requestReview<K extends keyof StatusOf>(
  api: Pick<KubernetesApi, 'request'>,
  kind: K,
  spec: object,
): Promise<StatusOf[K]> {
  const collection = collections[kind]
  const body = { apiVersion: `${collection.group}/${collection.version}`, kind, spec }
  try {
    const review = await api.request<{ status?: StatusOf[K] }>({ verb: 'create', collection, body })
    return review.status ?? {}
  } catch (error) {
    // A missing right of the service itself is not the caller's fault.
    if (isSvcError(error, 'Forbidden')) throw new SvcError('Unavailable', error.message, { cause: error })
    throw error
  }
}

type AnswersOptions<T> = {
  clock: Clock
  /** The most entries in either half. */
  size: number
  ttlMs: (answer: T) => number
  /** Refusals are cached separately, so that a flood of bad tokens cannot push out a good one. */
  isRefusal: (answer: T) => boolean
}

type Answers<T> = {
  /** The cached answer, or the result of `find`; failures are not cached. */
  ask(key: string, find: () => Promise<T>): Promise<T>
}

export function createAnswers<T>({ clock, size, ttlMs, isRefusal }: AnswersOptions<T>): Answers<T> {
  const age = { maxMs: ({ answer }: { answer: T }) => ttlMs(answer), now: () => clock.now().getTime() }
  const passed = new BoundedMap<string, { answer: T }>({ max: size, age })
  const refused = new BoundedMap<string, { answer: T }>({ max: size, age })
  const asking = new Map<string, Promise<T>>()

  async function find(key: string, bring: () => Promise<T>): Promise<T> {
    // The time before the request, so that an answer is never trusted for too long.
    const since = clock.now().getTime()
    try {
      const answer = await bring()
      const lane = isRefusal(answer) ? refused : passed
      lane.set(key, { answer }, since)
      return answer
    } finally {
      asking.delete(key)
    }
  }

  return {
    async ask(key, bring) {
      const known = passed.get(key) ?? refused.get(key)
      if (known) return known.answer
      const running = asking.get(key) ?? find(key, bring)
      asking.set(key, running)
      return running
    },
  }
}
