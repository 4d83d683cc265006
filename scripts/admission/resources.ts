// Which addresses providers may have, which headers tools may send, and which namespaces nobody may use.
import { systemNamespaces } from '../../src/contract/api/identity/access.ts'
import { clientHeaders, mcpHeaders } from '../../src/contract/values/client-headers.ts'
import { propagationHeader } from '../../src/rules/identity/token-propagation.ts'
import { metadataNames, metadataNetworks, specialNetworks } from '../../src/rules/providers/address.ts'
import { actorsAreOff } from '../../src/rules/workspaces/actor-templates.ts'
import {
  apiGroup,
  type CelValidation,
  everyKind,
  isService,
  type PolicyRules,
  type PolicySettings,
  quoteAllCel,
  quoteCel,
  specChanged,
  type Variable,
} from './policy.ts'

// The API server and the service read the same host from such an address; any other form is refused.
const plainAddress = '(?i)^https?://([a-z0-9_-]+([.][a-z0-9_-]+)*[.]?|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?([/?#].*)?$'
// WHATWG: a host whose last part is a number is an IPv4 address, however it is spelled.
const numericEnd = '(^|[.])(0x[0-9a-f]*|[0-9]+)$'

const host = 'variables.host'

function isWithin(networks: string): string {
  return `variables.isAddress && ${networks}.exists(network, cidr(network).containsIP(${host}))`
}

const addressVariables = ({ allowNetworks, ownAddresses }: PolicySettings): Variable[] => [
  { name: 'address', expression: "object.spec.?baseURL.orValue('')" },
  {
    name: 'isNew',
    expression:
      "variables.address != '' && (oldObject == null || oldObject.spec.?baseURL.orValue('') != variables.address)",
  },
  { name: 'isPlain', expression: `variables.address.matches(${quoteCel(plainAddress)}) && isURL(variables.address)` },
  { name: 'url', expression: "variables.isPlain ? variables.address : 'http://none.invalid'" },
  { name: 'fullHost', expression: 'url(variables.url).getHostname().lowerAscii()' },
  {
    name: 'host',
    expression:
      "variables.fullHost.endsWith('.') ? variables.fullHost.substring(0, size(variables.fullHost) - 1) : variables.fullHost",
  },
  {
    name: 'port',
    expression:
      "url(variables.url).getPort() != '' ? url(variables.url).getPort() : variables.url.lowerAscii().startsWith('https') ? '443' : '80'",
  },
  { name: 'isAddress', expression: `isIP(${host})` },
  // A number that is not a plain address, or a bracketed address that the API server cannot read.
  {
    name: 'isOdd',
    expression: `!variables.isAddress && (${host}.matches(${quoteCel(numericEnd)}) || ${host}.contains(':'))`,
  },
  {
    name: 'isMetadata',
    expression: `${host} in ${quoteAllCel(metadataNames)} || ${isWithin(quoteAllCel(metadataNetworks()))}`,
  },
  {
    name: 'isHere',
    expression: `${host} == 'localhost' || ${host}.endsWith('.localhost') || ${isWithin(quoteAllCel(['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128']))}`,
  },
  { name: 'isPrivate', expression: `variables.isHere || ${isWithin(quoteAllCel(specialNetworks()))}` },
  { name: 'isAllowed', expression: isWithin(allowNetworks) },
  {
    name: 'isService',
    expression: `${ownAddresses}.exists(own, own == ${host} + ':' + variables.port || (variables.isHere && own.endsWith(':' + variables.port)))`,
  },
]

function refuseAddress(expression: string, words: string): CelValidation {
  return { expression: `!variables.isNew || !(${expression})`, message: `spec.baseURL ${words}`, reason: 'Invalid' }
}

function providerRules(settings: PolicySettings): PolicyRules[] {
  return [
    {
      name: 'provider-demo',
      kinds: ['Provider'],
      conditions: [specChanged],
      validations: [
        {
          expression: "object.spec.type != 'demo'",
          message: 'spec.type demo is only for an embedded service on loopback; use a real vendor',
          reason: 'Invalid',
        },
      ],
    },
    {
      name: 'provider-address',
      kinds: ['Provider'],
      conditions: [specChanged],
      variables: addressVariables(settings),
      validations: [
        refuseAddress(
          '!variables.isPlain || variables.isOdd',
          'must have a host name, or an IP address in the usual form',
        ),
        refuseAddress('variables.isMetadata', 'must not be a link-local or metadata address'),
        refuseAddress('variables.isService', 'must not be the address of this service'),
        refuseAddress(
          'variables.isPrivate && !variables.isAllowed',
          'must not be a loopback or private address; --allow-network (settings.allowNetwork of the chart) lists those that are allowed',
        ),
      ],
    },
  ]
}

function refuseHeader(condition: string, which: string): CelValidation {
  const names = 'object.spec.?http.?headers.orValue({}).map(header, header.trim().lowerAscii())'
  return {
    expression: `!${names}.exists(name, ${condition})`,
    message: `spec.http.headers must leave out headers ${which}`,
    reason: 'Invalid',
  }
}

function toolRules({ propagates }: PolicySettings): PolicyRules[] {
  const name = quoteCel(propagationHeader.toLowerCase())
  return [
    {
      name: 'tool-headers',
      kinds: ['Tool'],
      conditions: [specChanged],
      validations: [
        {
          expression: `!${propagates} || !object.spec.?http.?headers.orValue({}).exists(header, header.trim().lowerAscii() == ${name})`,
          message: `spec.http.headers must leave ${propagationHeader} out: it is reserved for the token of the caller`,
          reason: 'Invalid',
        },
        refuseHeader(`name in ${quoteAllCel([...clientHeaders])}`, 'that the service sets itself'),
        refuseHeader(
          `has(object.spec.mcp) && name in ${quoteAllCel([...mcpHeaders])}`,
          'that the protocol of MCP sets',
        ),
        refuseHeader(
          "name == 'authorization' && (has(object.spec.http.authSecretRef) && object.spec.http.?authInject.orValue('header') == 'header' || has(object.spec.mcp) && has(object.spec.mcp.oauth))",
          'that is made from the credentials of the tool',
        ),
      ],
    },
  ]
}

function actorRules(settings: PolicySettings): PolicyRules[] {
  const { hasActors, isolated, workspaceSpaces } = settings
  const unchanged = 'oldObject != null && object.spec.?mcp == oldObject.spec.?mcp'
  const isFree = `${isService(settings)} || !has(object.spec.mcp) || !has(object.spec.mcp.actor) || (${unchanged})`
  const poolSpace = 'object.spec.mcp.actor.?poolRef.?namespace.orValue(request.namespace)'
  const space = "object.spec.mcp.actor.?templateRef.?namespace.orValue('')"
  const isNear = `${space} == '' || ${space} == request.namespace || ('actor' in ${workspaceSpaces} && ${workspaceSpaces}['actor'] == ${space})`
  const mayUse = (at: string) =>
    `authorizer.group('${apiGroup}').resource('tools').namespace(${at}).check('create').allowed()`
  const mayNot = 'is of a namespace in which its author may not create tools; ask for a role there'
  return [
    {
      name: 'tool-actors',
      kinds: ['Tool'],
      validations: [
        { expression: `${isFree} || ${hasActors}`, message: `spec.mcp.actor ${actorsAreOff}`, reason: 'Invalid' },
        {
          expression: `${isFree} || !${isolated} || ${poolSpace} == request.namespace`,
          message: 'spec.mcp.actor.poolRef must not refer to another namespace',
          reason: 'Invalid',
        },
        {
          expression: `${isFree} || !${isolated} || ${isNear}`,
          message: 'spec.mcp.actor.templateRef must not refer to another namespace',
          reason: 'Invalid',
        },
        {
          expression: `${isFree} || ${poolSpace} == request.namespace || ${mayUse(poolSpace)}`,
          message: `spec.mcp.actor.poolRef ${mayNot}`,
          reason: 'Forbidden',
        },
        {
          expression: `${isFree} || ${isNear} || ${mayUse(space)}`,
          message: `spec.mcp.actor.templateRef ${mayNot}`,
          reason: 'Forbidden',
        },
      ],
    },
  ]
}

function namespacePolicies({ ownNamespace }: PolicySettings): PolicyRules[] {
  return [
    {
      name: 'guarded-namespaces',
      kinds: everyKind,
      conditions: [specChanged],
      validations: [
        {
          expression: `!(request.namespace in ${quoteAllCel(systemNamespaces)}) && request.namespace != ${ownNamespace}`,
          message: 'this namespace belongs to the cluster or the service; use another one',
          reason: 'Forbidden',
        },
      ],
    },
  ]
}

export function resourceRules(settings: PolicySettings): PolicyRules[] {
  return [...providerRules(settings), ...toolRules(settings), ...actorRules(settings), ...namespacePolicies(settings)]
}
