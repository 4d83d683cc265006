// Execution workspaces that a task asks for: what depends on the settings of the service, and fields without a schema.
import {
  apiGroup,
  type CelValidation,
  isService,
  type PolicyRules,
  type PolicySettings,
  specChanged,
  type Variable,
} from './policy.ts'

const path = 'spec.execution.workspace'

function refuse(expression: string, message: string, settings: PolicySettings): CelValidation {
  return { expression: `${isService(settings)} || !(${expression})`, message, reason: 'Invalid' }
}

/** Namespaces that are named, and what a template has without one; after `asked` and `provider`. */
function listNamespaces({ workspaceSpaces }: PolicySettings): Variable[] {
  const usual = "variables.provider in variables.spaces ? variables.spaces[variables.provider] : ''"
  return [
    { name: 'spaces', expression: workspaceSpaces },
    { name: 'usual', expression: usual },
    { name: 'space', expression: "variables.asked.?templateRef.?namespace.orValue('')" },
    { name: 'poolSpace', expression: "variables.asked.?poolRef.?namespace.orValue('')" },
  ]
}

/** Templates and pools of other namespaces. */
function namespaceRules(settings: PolicySettings): CelValidation[] {
  const { isolated } = settings
  const isFar = "variables.space != '' && variables.space != request.namespace && variables.space != variables.usual"
  const isFarPool = "variables.poolSpace != '' && variables.poolSpace != request.namespace"
  const mayUse = (space: string) =>
    `authorizer.group('${apiGroup}').resource('tasks').namespace(${space}).check('create').allowed()`
  const refuseFar = (field: string, far: string, space: string): CelValidation[] => [
    refuse(
      `${isolated} && ${far}`,
      `${path}.${field}.namespace must not be another one: namespaces are isolated here`,
      settings,
    ),
    {
      expression: `${isService(settings)} || !(${far}) || ${mayUse(space)}`,
      message: `${path}.${field} is of a namespace in which its author may not create tasks; ask for a role there`,
      reason: 'Forbidden',
    },
  ]
  return [
    refuse(
      "variables.provider == 'agent-sandbox' && variables.space != '' && variables.space != (variables.usual != '' ? variables.usual : request.namespace)",
      `${path}.templateRef.namespace is one in which sandboxes cannot be claimed: leave it out`,
      settings,
    ),
    ...refuseFar('templateRef', isFar, 'variables.space'),
    ...refuseFar('poolRef', isFarPool, 'variables.poolSpace'),
  ]
}

/** The same as `taskProblems` of the contract. */
export function workspaceRules(settings: PolicySettings): PolicyRules[] {
  const { workspaceDefaultProvider, workspaceTemplates, workspaceCleanups } = settings
  const ofSandboxes = "variables.provider == 'agent-sandbox'"
  const forActors = 'is only for workspace provider actor'
  return [
    {
      name: 'task-workspaces',
      kinds: ['Task'],
      conditions: [specChanged, { name: 'has-workspace', expression: 'object.spec.?execution.?workspace.hasValue()' }],
      variables: [
        { name: 'asked', expression: 'object.spec.execution.workspace' },
        { name: 'isEnabled', expression: 'variables.asked.?enabled.orValue(false)' },
        { name: 'provider', expression: `variables.asked.?provider.orValue(${workspaceDefaultProvider})` },
        { name: 'templates', expression: workspaceTemplates },
        { name: 'cleanups', expression: workspaceCleanups },
        ...listNamespaces(settings),
        {
          name: 'template',
          expression:
            "variables.asked.?templateRef.?name.orValue('') != '' ? variables.asked.templateRef.name : variables.provider in variables.templates ? variables.templates[variables.provider] : ''",
        },
        { name: 'isPooled', expression: "variables.asked.?poolRef.?name.orValue('') != ''" },
        {
          name: 'cleanup',
          expression:
            "variables.asked.?cleanupPolicy.orValue(variables.provider in variables.cleanups ? variables.cleanups[variables.provider] : '')",
        },
      ],
      validations: [
        refuse(
          'variables.isEnabled && !(variables.provider in variables.templates)',
          `${path}.provider is not enabled on this service`,
          settings,
        ),
        refuse(
          "variables.isEnabled && variables.template == ''",
          `${path}.templateRef.name is required; this service has no default template`,
          settings,
        ),
        refuse(
          'variables.asked.?snapshot.hasValue() && size(variables.asked.snapshot) > 0',
          `${path}.snapshot is reserved and must be empty`,
          settings,
        ),
        refuse(
          "variables.asked.?hibernation.?processMode.orValue('') == 'resident'",
          `${path}.hibernation.processMode must not be resident`,
          settings,
        ),
        refuse(
          "variables.isPooled && variables.cleanup != 'delete'",
          `${path}.cleanupPolicy must be delete for a pooled workspace`,
          settings,
        ),
        refuse(`${ofSandboxes} && variables.isPooled`, `${path}.poolRef ${forActors}`, settings),
        refuse(`${ofSandboxes} && variables.asked.?boot.orValue(false)`, `${path}.boot ${forActors}`, settings),
        refuse(
          `${ofSandboxes} && variables.asked.?hibernation.hasValue() && size(variables.asked.hibernation) > 0`,
          `${path}.hibernation ${forActors}`,
          settings,
        ),
        ...namespaceRules(settings),
      ],
    },
  ]
}
