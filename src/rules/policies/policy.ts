// The shape of an admission policy of the cluster, and what every policy of the service has in common.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import { apiVersion, type Kind, kindNames, kinds } from '../../contract/resources/index.ts'

/** What differs between installations. All but the first and the last are expressions in CEL. */
export type PolicySettings = {
  /** Begins the name of every policy. */
  prefix: string
  /** Names of the accounts that write for the service, a list. */
  accounts: string
  /** Whether namespaces are kept apart. */
  isolated: string
  /** Private networks that providers may lie in, a list of CIDRs. */
  allowNetworks: string
  /** `host:port` of the service itself, a list. */
  ownAddresses: string
  /** Whether tokens go on to tools in a header. */
  propagates: string
  /** The namespace of the service, a text. */
  ownNamespace: string
  /** Which objects the policies are bound to: `matchResources` of the bindings. */
  scope: object
}

export type Variable = { name: string; expression: string }
/** `message` in words, or `messageExpression` in CEL, which has no `authorizer`. */
export type Validation = { expression: string; message?: string; messageExpression?: string; reason: string }

export type PolicyRules = {
  /** Follows the prefix. */
  name: string
  kinds: readonly Kind[]
  /** Conditions under which the policy counts; all of them. */
  conditions?: readonly Variable[]
  variables?: readonly Variable[]
  validations: readonly Validation[]
}

const [apiGroup = '', version = ''] = apiVersion.split('/')
const admissionVersion = 'admissionregistration.k8s.io/v1'

export { apiGroup }
export const everyKind: readonly Kind[] = kindNames

/** A text of this code as a literal of CEL. */
export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

export function quoteAll(texts: readonly string[]): string {
  return `[${texts.map(quote).join(', ')}]`
}

/** The spec is new or another; who edits a label is not asked about it. */
export const specChanged: Variable = {
  name: 'spec-changed',
  expression: "request.operation == 'CREATE' || object.spec != oldObject.spec",
}

/** Whether the writer is the service itself; a term of a validation. */
export function isService({ accounts }: PolicySettings): string {
  return `request.userInfo.username in ${accounts}`
}

/** A policy and its binding; what fails is refused. */
export function writePolicy(rules: PolicyRules, { prefix, scope }: PolicySettings): object[] {
  const name = `${prefix}-${rules.name}`
  const resources = rules.kinds.map((kind) => kinds[kind].plural)
  const matched = { apiGroups: [apiGroup], apiVersions: [version], operations: ['CREATE', 'UPDATE'], resources }
  return [
    {
      apiVersion: admissionVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [matched] },
        ...(rules.conditions === undefined ? {} : { matchConditions: rules.conditions }),
        ...(rules.variables === undefined ? {} : { variables: rules.variables }),
        validations: rules.validations,
      },
    },
    {
      apiVersion: admissionVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], matchResources: scope },
    },
  ]
}
