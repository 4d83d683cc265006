// The two questions about callers that the API server answers: who a token belongs to, and what that user may do.
import { isSvcError, SvcError } from '../../errors.ts'
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
export async function askReview<K extends keyof StatusOf>(
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
