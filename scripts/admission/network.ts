// Whoever gives a task or an agent a wider network than its namespace has needs the right to do so: `findWider` of
// `rules/workspaces/network.ts` for a door that sees one object. Names in spellings that are not the usual one count as wider.
import { type Kind, kinds } from '../../src/contract/kinds/index.ts'
import { listPresetHosts, networkPresets } from '../../src/contract/values/network-presets.ts'
import {
  apiGroup,
  type CelValidation,
  isService,
  type PolicyRules,
  type PolicySettings,
  quoteAllCel,
  quoteCel,
  type Variable,
} from './policy.ts'

const conditions: readonly Variable[] = [
  { name: 'has-network', expression: 'object.spec.?network.hasValue()' },
  {
    name: 'network-changed',
    expression: "request.operation == 'CREATE' || object.spec.?network != oldObject.spec.?network",
  },
]

const presets = networkPresets.map((preset) => `${quoteCel(preset)}: ${quoteAllCel(listPresetHosts(preset))}`)

/** Each entry and, without its port, the name that it stands for. */
const entries =
  "object.spec.network.allow.map(entry, entry.lowerAscii()).map(entry, [entry, entry.matches('^[^:]+:[0-9]+$') ? entry.split(':')[0] : entry])"

const isCovered = [
  'base in variables.presets && entry[1] in variables.presets[base]',
  'base == entry[1]',
  "base.startsWith('*.') && !base.contains(':') && entry[1].endsWith(base.substring(1))",
].map((each) => `(${each})`)

const wider = `variables.entries.filter(entry, entry[0] != 'none' && !(entry[0] in variables.base) && !variables.base.exists(base, ${isCovered.join(' || ')})).map(entry, entry[0]) + (variables.wanted == 'allow' ? ['onUnknown: allow'] : [])`

function listVariables(kind: Kind, settings: PolicySettings): Variable[] {
  const { agentNetwork, commandNetwork, networkUnknown, namespaceNetworks, namespaceUnknowns } = settings
  const usual =
    kind === 'Agent' ? agentNetwork : `object.spec.?type.orValue('') == 'agent' ? ${agentNetwork} : ${commandNetwork}`
  return [
    { name: 'presets', expression: `{${presets.join(', ')}}` },
    { name: 'networks', expression: namespaceNetworks },
    { name: 'unknowns', expression: namespaceUnknowns },
    { name: 'isOwn', expression: 'request.namespace in variables.networks' },
    { name: 'base', expression: `variables.isOwn ? variables.networks[request.namespace] : (${usual})` },
    { name: 'unknown', expression: `variables.isOwn ? variables.unknowns[request.namespace] : ${networkUnknown}` },
    { name: 'entries', expression: entries },
    { name: 'wanted', expression: "object.spec.network.?onUnknown.orValue('refuse')" },
    { name: 'isOpen', expression: "variables.entries.exists(entry, entry[0] == 'open')" },
    { name: 'wider', expression: wider },
    {
      name: 'isWithin',
      expression:
        "'open' in variables.base || (variables.unknown == 'allow' && !variables.isOpen) || size(variables.wider) == 0",
    },
    {
      name: 'widens',
      expression: `authorizer.group('${apiGroup}').resource('networks').namespace(request.namespace).check('update').allowed()`,
    },
  ]
}

function listValidations(settings: PolicySettings): CelValidation[] {
  const what =
    "'spec.network is wider than the network of this namespace: it does not have ' + variables.wider.join(', ')"
  return [
    {
      expression: `${isService(settings)} || variables.isWithin || !variables.isOpen || ${settings.allowsOpenNetwork}`,
      message: 'spec.network.allow must not be open: this service allows it to nobody (allowOpenNetwork)',
      reason: 'Forbidden',
    },
    {
      expression: `${isService(settings)} || variables.isWithin || variables.widens`,
      messageExpression: `${what} + '; needs the verb update on networks.${apiGroup}'`,
      reason: 'Forbidden',
    },
  ]
}

export function networkRules(settings: PolicySettings): PolicyRules[] {
  return (['Task', 'Agent'] as const).map((kind) => ({
    name: `${kinds[kind].singular}-network`,
    kinds: [kind],
    conditions,
    variables: listVariables(kind, settings),
    validations: listValidations(settings),
  }))
}
