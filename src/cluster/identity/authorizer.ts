// What a caller may do, by SubjectAccessReview: the REST verb needs the same verb on the custom resource (AUTH-014).
import { type Access, type AccessKind, type Decision, systemNamespaces } from '../../contract/api/identity/access.ts'
import { apiVersion, kinds } from '../../contract/kinds/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Authorizer } from '../../ports/identity/identity.ts'
import type { KubernetesApi } from '../api.ts'
import { createAnswers, requestReview } from './reviews.ts'

const decisionMs = 10_000
const maxDecisions = 10_000

const [apiGroup = ''] = apiVersion.split('/')

export type ReviewAuthorizerOptions = {
  api: Pick<KubernetesApi, 'request'>
  clock: Clock
  /** The service's own namespace: nobody may use its Secrets and its service account. */
  operatorNamespace: string
}

type Target = { group: string; resource: string }

/**
 * Sessions, memories and usage are records, not custom resources; RBAC rules name them as resources of the same group,
 * which needs no CRD. Tokens belong to the owner, whom Kubernetes mode does not have; roles cannot grant them.
 */
const otherTargets: Record<Exclude<AccessKind, keyof typeof kinds | 'Metrics' | 'Token'>, Target> = {
  Secret: { group: '', resource: 'secrets' },
  ConfigMap: { group: '', resource: 'configmaps' },
  Session: { group: apiGroup, resource: 'sessions' },
  Memory: { group: apiGroup, resource: 'memories' },
  Usage: { group: apiGroup, resource: 'usages' },
  Budget: { group: apiGroup, resource: 'budgets' },
  Setting: { group: apiGroup, resource: 'settings' },
  Network: { group: apiGroup, resource: 'networks' },
  Audit: { group: apiGroup, resource: 'audits' },
}

function targetOf(kind: Exclude<AccessKind, 'Metrics' | 'Token'>): Target {
  if (kind in otherTargets) return otherTargets[kind as keyof typeof otherTargets]
  return { group: apiGroup, resource: kinds[kind as keyof typeof kinds].plural }
}

/**
 * The API server has no verbs `use` and `operate`: whoever may read an object may use it, whoever may change it may
 * start it.
 */
const clusterVerbs: Record<Access['verb'], string> = {
  get: 'get',
  list: 'list',
  create: 'create',
  update: 'update',
  delete: 'delete',
  use: 'get',
  operate: 'update',
}

/** The API server ignores the name of what is created or listed, so rules by name do not grant those verbs. */
const isNamed = (verb: Access['verb']) => verb !== 'create' && verb !== 'list'

function describeAccess({ verb: accessVerb, kind, namespace, name }: Access): object {
  const verb = clusterVerbs[accessVerb]
  if (kind === 'Metrics' || kind === 'Token') return { nonResourceAttributes: { verb, path: `/${kind.toLowerCase()}` } }
  const object = { namespace, ...(isNamed(accessVerb) && name ? { name } : {}) }
  return { resourceAttributes: { ...targetOf(kind), verb, ...object } }
}

function refuse(user: string, { verb, kind, namespace }: Access, reason: string | undefined): Decision {
  const what = kind === 'Metrics' ? 'metrics' : kind === 'Token' ? 'tokens' : targetOf(kind).resource
  const where = namespace === undefined ? 'in all namespaces' : `in namespace "${namespace}"`
  const why = reason ? ` (${reason})` : ''
  const message = `"${user}" may not ${verb} ${what} ${where}${why}; bind a role that allows it`
  return { allowed: false, reason: message }
}

const reads: readonly Access['verb'][] = ['get', 'list']

export function createReviewAuthorizer(options: ReviewAuthorizerOptions): Authorizer {
  const { api, clock } = options
  const guarded = new Set([...systemNamespaces, options.operatorNamespace])
  const answers = createAnswers<Decision>({
    clock,
    size: maxDecisions,
    ttlMs: () => decisionMs,
    isRefusal: (decision) => !decision.allowed,
  })

  /**
   * Whatever a caller's rights there, the service does nothing for them there: it holds its own credentials, and the
   * cluster's.
   */
  function guard({ verb, kind, namespace }: Access): Decision | undefined {
    if (namespace === undefined) return undefined
    if (!guarded.has(namespace)) return undefined
    if (reads.includes(verb) && kind !== 'Secret') return undefined
    return {
      allowed: false,
      reason: `namespace "${namespace}" is not allowed: it belongs to the cluster or the service`,
    }
  }

  async function review(user: string, access: Access, spec: object): Promise<Decision> {
    const { allowed, denied, reason } = await requestReview(api, 'SubjectAccessReview', spec)
    return allowed === true && denied !== true ? { allowed: true } : refuse(user, access, reason)
  }

  return {
    async authorize({ cluster }, access) {
      const guardedAnswer = guard(access)
      if (guardedAnswer) return guardedAnswer
      // The cluster may have a different user with the name of an external caller, so role and namespace have decided.
      // The cluster does not know the service's own tools either.
      if (cluster === undefined || access.serviceTool !== undefined) return { allowed: true }
      const spec = { ...cluster, ...describeAccess(access) }
      return answers.ask(JSON.stringify(spec), () => review(cluster.user, access, spec))
    },
  }
}
