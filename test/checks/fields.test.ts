// What is accepted acts, or is refused: every field of every kind has a reader outside the contract, or a refusal.
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { type Kind, kindNames, kinds } from '../../src/contract/kinds/index.ts'
import { each, walkSchema } from '../../src/contract/schema/reference-paths.ts'
import { listFiles, readSource } from './source-tree.ts'

const origin = 'tells people where the skill came from'
const stamp = 'is stamped by the service and shown to people'

const inactive = 'is in manifests for the reference; what it belongs to is refused once it is enabled'

/** Fields that no code reads, each with what it is there for. */
const unread: Record<string, string> = {
  'Agent.session.persistence': 'sessions are always in the record store; manifests for the reference name a place',
  'Skill.source.context7': origin,
  'RepositoryMonitor.review.publish.sameHeadPolicy': 'has one value, which is what happens',
  'RepositoryMonitor.review.publish.inline.onlyChangedLines': 'has one value, which is what happens',
  'RepositoryMonitor.agents.repairer': inactive,
  'RepositoryMonitor.agents.implementer': inactive,
  'RepositoryMonitor.repair.requireMaintainerOptIn': inactive,
  'RepositoryMonitor.repair.maxRepairsPerPR': inactive,
  'RepositoryMonitor.repair.maxRepairsPerHead': inactive,
  'RepositoryMonitor.repair.maxValidationRetries': inactive,
  'RepositoryMonitor.repair.maxReviewFixRetries': inactive,
  'RepositoryMonitor.automerge.requireMaintainerOptIn': inactive,
  'RepositoryMonitor.automerge.requireGlobalMergeGate': inactive,
  'RepositoryMonitor.automerge.allowedMergeMethods': inactive,
  'RepositoryMonitor.policy.optInLabels': inactive,
  'RepositoryMonitor.policy.optInLabels.autofix': inactive,
  'RepositoryMonitor.policy.allowedRepositoryPermissions': inactive,
  'Task.transaction.context.purpose': stamp,
  'Task.transaction.context.e2e': stamp,
  'Task.transaction.context.trace_id': stamp,
}

/** Objects that are passed on whole, to Kubernetes: what is in them means there what it always does. */
const passedOn = ['Task.execution', 'Agent.execution']

type Named = { type: string; name?: string; value?: unknown }

function nameOf(node: unknown): string | undefined {
  const { type, name, value } = node as Named
  return type === 'Identifier' ? name : type === 'Literal' && typeof value === 'string' ? value : undefined
}

/** Names of properties that a file reads: `a.name`, `a['name']`, `{ name }` of a pattern. */
function listReads(path: string): string[] {
  const names: string[] = []
  const note = (node: unknown) => {
    const name = nameOf(node)
    if (name !== undefined) names.push(name)
  }
  new Visitor({
    MemberExpression: (member) => note(member.property),
    ObjectPattern(pattern) {
      for (const property of pattern.properties) if (property.type === 'Property') note(property.key)
    },
  }).visit(parseSync(path, readSource(path)).program)
  return names
}

const readers = listFiles('src', ['.ts']).filter(
  (path) => !path.startsWith('src/contract/') && !path.endsWith('.test.ts'),
)
/** What whole kinds mean here is read in the contract itself: rules over several fields, and what admission refuses. */
const rulesOfContract = listFiles('src/contract/kinds', ['.ts']).filter((path) => !path.endsWith('.test.ts'))
const reads = new Set([...readers, ...rulesOfContract].flatMap(listReads))

function listFields(kind: Kind): string[] {
  const paths = [...walkSchema(kinds[kind].spec)].map(([, path]) => path.filter((part) => part !== each))
  return [...new Set(paths.filter((path) => path.length > 0).map((path) => `${kind}.${path.join('.')}`))]
}

const isWithin = (field: string, whole: string) => field === whole || field.startsWith(`${whole}.`)

describe('every field of a spec', () => {
  const fields = kindNames.flatMap(listFields)
  const isRead = (field: string) => reads.has(field.split('.').at(-1) ?? '')

  it('is read somewhere, or has a stated reason why nobody reads it', () => {
    const open = fields.filter((field) => !isRead(field))
    const explained = [...Object.keys(unread), ...passedOn]
    expect(open.filter((field) => !explained.some((whole) => isWithin(field, whole)))).toEqual([])
  })

  it('has no stated reason any more once it is read', () => {
    expect(Object.keys(unread).filter((field) => !fields.includes(field) || isRead(field))).toEqual([])
    expect(passedOn.filter((field) => !fields.includes(field) || !isRead(field))).toEqual([])
  })
})
