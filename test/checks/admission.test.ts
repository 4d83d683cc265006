// A rule of admission holds by REST and by kubectl: each has its policy, or the reason why it needs none.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listPolicyRules } from '../../scripts/admission/policies.ts'
import { builtinTools } from '../../src/tools/registry/registry.ts'
import { policySettings } from '../fixtures/policy-settings.ts'
import { listFiles } from './source-tree.ts'

type Twin = { policies: string[] } | { reason: string }

const references = [
  ...[
    'task-secrets',
    'task-configmaps',
    'task-agents',
    'task-providers',
    'task-tasks',
    'agent-secrets',
    'agent-configmaps',
  ],
  ...['agent-providers', 'agent-agents', 'provider-secrets', 'provider-providers', 'skill-secrets', 'tool-secrets'],
  ...['repositoryscan-secrets', 'repositoryscan-configmaps', 'repositoryscan-agents'],
  ...['repositorymonitor-secrets', 'repositorymonitor-agents'],
]
const contextTokens = { reason: 'of context tokens, which the API server does not take' }
const acting = {
  policies: [
    ...['task-acting', 'agent-acting', 'skill-acting', 'provider-acting', 'tool-acting', 'task-secrets'],
    ...['configmap-acting', 'used-elsewhere'],
  ],
}
const networks = { policies: ['task-network', 'agent-network'] }
const writesOnly = { reason: 'says what the service writes, and refuses nothing' }

/** Functions of src/usecases/resources/admission that refuse. */
const admission: Record<string, Twin> = {
  refuseImpossible: {
    policies: ['task-workspaces', 'tool-actors'],
  },
  requireReferences: { policies: references },
  requireSecret: { policies: references },
  requireForeignNamespaces: { policies: ['task-workspaces', 'tool-actors'] },
  requireOwnSecret: { reason: 'of the owner’s environment, which Kubernetes mode has not' },
  requireOwnKeys: { policies: ['reserved-keys'] },
  admitTask: { policies: ['task-identity'] },
  checkChange: { policies: ['task-identity'] },
  refuseFixed: { reason: 'the definition of tasks says the same to kubectl (src/contract/schema/crd-rules.ts)' },
  requireAllowedHosts: { reason: 'a policy cannot read the Secret; the controllers and the dialler ask again' },
  checkDemo: { policies: ['provider-demo'] },
  checkBaseUrl: { policies: ['provider-address'] },
  requirePossible: { reason: 'for what coordinating tasks make, which never comes by kubectl' },
  admitMonitor: {
    reason: 'reads agents, secrets and settings, which a policy cannot; the monitor says in its status what is wrong',
  },
  refusePrograms: { reason: 'reads agents, which a policy cannot; a run asks again and says so' },
  requireFreeHeaders: { policies: ['tool-headers'] },
  requirePool: { reason: 'a policy cannot read the pool; the tool says in its status what is wrong' },
  requireWorkspace: { reason: 'a policy cannot read the template; the task fails and says why when it starts' },
  requireFreeToolName: { reason: 'built-in tools have a "_" in their names, which no object of the cluster can have' },
  requireActing: acting,
  requireNetwork: networks,
  requireUse: contextTokens,
  requireContext: contextTokens,
}

/** Rules of src/rules that admission decides by. */
const rules: Record<string, Twin> = {
  defaultNetworkSettings: networks,
  findWider: networks,
  hasOpenNetwork: networks,
  networkOfNamespace: networks,
  classifyUrl: { policies: ['provider-address'] },
  findForeignReference: {
    policies: references.filter((name) => !/-configmaps$|^(agent|provider|tool|repository\w+)-secrets$/.test(name)),
  },
  listForeignWorkspaces: { policies: ['task-workspaces'] },
  listForeignActors: { policies: ['tool-actors'] },
  findNamespaceProblems: { policies: ['task-workspaces', 'tool-actors'] },
  actorsAreOff: { policies: ['tool-actors'] },
  describeToolActor: writesOnly,
  chooseOrigin: { reason: 'a policy cannot read the template; the task fails and says why when it starts' },
  findPlacement: { reason: 'refused only where there is no cluster' },
  findReservedHeader: { policies: ['tool-headers'] },
  isOwner: { reason: 'Kubernetes mode has no owner' },
  actsForAnother: { policies: ['task-identity'] },
  findFixedChanges: { reason: 'the definition of tasks says the same to kubectl (src/contract/schema/crd-rules.ts)' },
  listChangedFields: writesOnly,
  findReceiverProblem: { reason: 'a policy cannot read the Secret; the controllers and the dialler ask again' },
  repositoryUrl: { reason: 'where a Secret goes, which a policy cannot read' },
  fitsTask: { reason: 'of the stamp, which only the service writes' },
  listNeededSecrets: acting,
  callerKey: writesOnly,
  listSecretsInside: acting,
  agentKeyOf: acting,
  partsOfTasks: acting,
  unfinishedPhases: acting,
  isAmong: acting,
  fallbacksOf: acting,
  startsByChange: { policies: ['task-secrets', 'task-acting'] },
  keyOfRequester: acting,
  listProviderWishes: contextTokens,
  expandWishes: contextTokens,
  chooseTools: contextTokens,
  isServiceTool: contextTokens,
  stampOf: writesOnly,
  annotateCaller: writesOnly,
  identifyCaller: writesOnly,
  inheritAttribution: writesOnly,
  cleanupFinalizer: writesOnly,
  trustedAnnotation: writesOnly,
}

const policies = listPolicyRules(policySettings).map(({ name }) => name)
/** Of the authorizer of Kubernetes mode, which keeps everybody out of these namespaces. */
const ofOthers = ['guarded-namespaces']

const sources = listFiles('src/usecases/resources/admission', ['.ts'])
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(path, 'utf8'))

function findRefusing(source: string): string[] {
  const [, ...functions] = source.split(/^(?=(?:export )?(?:async )?function )/m)
  return functions
    .filter((text) => /\brefuse\(|throw new SvcError\(|requireAccess\(/.test(text.split('\n}')[0] ?? ''))
    .map((text) => /function (\w+)/.exec(text)?.[1] ?? '')
}

function findRules(source: string): string[] {
  const imports = source.matchAll(/^import \{([^}]*)\} from '[./]*rules\/[^']*'/gm)
  return [...imports]
    .flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
    .filter((name) => name !== '' && !name.startsWith('type '))
}

describe('a rule of admission', () => {
  it('has a policy, or a reason why it needs none', () => {
    expect([...new Set(sources.flatMap(findRefusing))].toSorted()).toEqual(Object.keys(admission).toSorted())
    expect([...new Set(sources.flatMap(findRules))].toSorted()).toEqual(Object.keys(rules).toSorted())
  })

  it('names existing policies, and every policy has a rule', () => {
    const named = [...Object.values(admission), ...Object.values(rules)].flatMap((twin) =>
      'policies' in twin ? twin.policies : [],
    )
    expect([...new Set([...named, ...ofOthers])].toSorted()).toEqual(policies.toSorted())
  })

  it('for names of tools needs none, since no object can have the name of a built-in tool', () => {
    expect(builtinTools.map(({ name }) => name).filter((name) => !name.includes('_'))).toEqual([])
  })
})
