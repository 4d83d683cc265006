// The shape of an admission policy of the cluster, and what all policies of the service have in common.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import { systemNamespaces } from '../../src/contract/api/identity/access.ts'
import { apiVersion, type Kind, kindNames, kinds } from '../../src/contract/kinds/index.ts'

/** What differs between installations. All except `prefix`, `namespace` and `scope` are CEL expressions. */
export type PolicySettings = {
  /** Prefix of every policy's name. */
  prefix: string
  /** A list: names of the accounts that write for the service. */
  accounts: string
  /** Whether namespaces are isolated from each other. */
  isolated: string
  /** A list of CIDRs: private networks that providers may be in. */
  allowNetworks: string
  /** A list: `host:port` of the service itself. */
  ownAddresses: string
  /** Whether MCP servers can run in actors. */
  hasActors: string
  /** Whether tokens are sent to tools in a header. */
  propagates: string
  /** A string: the service's namespace. */
  ownNamespace: string
  /** The same as plain text. */
  namespace: string
  /** A string: who provides execution workspaces unless a task says it. */
  workspaceDefaultProvider: string
  /** Maps: of each enabled provider the default template (empty: none), and the default policy of clean-up. */
  workspaceTemplates: string
  workspaceCleanups: string
  /** A map: of a provider that is set to it the namespace of templates that tasks name without one; may be empty. */
  workspaceSpaces: string
  /** Lists: hosts and presets of agent programs, and of commands. */
  agentNetwork: string
  commandNetwork: string
  /** A string: what becomes of other hosts. */
  networkUnknown: string
  /** Maps: the same two by the name of a namespace that has a network of its own. */
  namespaceNetworks: string
  namespaceUnknowns: string
  /** Whether somebody may widen a network to that of the pod. */
  allowsOpenNetwork: string
  /** Which objects the policies are bound to: `matchResources` of the bindings. */
  scope: object
}

export type Variable = { name: string; expression: string }
/** `message` is plain text; `messageExpression` is CEL, which has no `authorizer`. */
export type CelValidation = { expression: string; message?: string; messageExpression?: string; reason: string }

export type PolicyRules = {
  /** The part of the name after the prefix. */
  name: string
  kinds: readonly Kind[]
  /**
   * A resource of the cluster's own in their place. What such a policy cannot evaluate is let in, and the namespaces of the
   * cluster are left out, so that it stops nothing that has nothing to do with the service.
   */
  resource?: string
  /** The object in the service's namespace that the expressions have as `params`; all of the kinds is refused without it. */
  parameter?: { group: string; version: string; kind: string; name: string }
  /** Conditions under which the policy applies; all of them must hold. */
  conditions?: readonly Variable[]
  variables?: readonly Variable[]
  validations: readonly CelValidation[]
}

const [apiGroup = '', version = ''] = apiVersion.split('/')
const admissionVersion = 'admissionregistration.k8s.io/v1'

export { apiGroup }
export const everyKind: readonly Kind[] = kindNames

/** A JavaScript string as a CEL literal. */
export function quoteCel(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

export function quoteAllCel(texts: readonly string[]): string {
  return `[${texts.map(quoteCel).join(', ')}]`
}

/** True when the spec is new or changed; editing only a label triggers no check. */
export const specChanged: Variable = {
  name: 'spec-changed',
  expression: "request.operation == 'CREATE' || object.spec != oldObject.spec",
}

/** Whether the writer is the service itself; one term of a validation. */
export function isService({ accounts }: PolicySettings): string {
  return `request.userInfo.username in ${accounts}`
}

/** Removing gives nobody anything. */
const operations = ['CREATE', 'UPDATE']

function writeMatch({ kinds: own, resource }: PolicyRules): object {
  if (resource === undefined) {
    const resources = own.map((kind) => kinds[kind].plural)
    return { resourceRules: [{ apiGroups: [apiGroup], apiVersions: [version], operations, resources }] }
  }
  const outside = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: systemNamespaces }
  return {
    namespaceSelector: { matchExpressions: [outside] },
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: [resource] }],
  }
}

/** A policy and its binding; a failed validation refuses the request. */
export function writePolicy(rules: PolicyRules, { prefix, scope, namespace }: PolicySettings): object[] {
  const { parameter, resource } = rules
  const name = `${prefix}-${rules.name}`
  return [
    {
      apiVersion: admissionVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: resource === undefined ? 'Fail' : 'Ignore',
        ...(parameter && {
          paramKind: { apiVersion: `${parameter.group}/${parameter.version}`, kind: parameter.kind },
        }),
        matchConstraints: writeMatch(rules),
        matchConditions: rules.conditions,
        variables: rules.variables,
        validations: rules.validations,
      },
    },
    {
      apiVersion: admissionVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: {
        policyName: name,
        ...(parameter && {
          paramRef: {
            name: parameter.name,
            namespace,
            parameterNotFoundAction: resource === undefined ? 'Deny' : 'Allow',
          },
        }),
        validationActions: ['Deny'],
        matchResources: scope,
      },
    },
  ]
}
