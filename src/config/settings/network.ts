// Which network the programs of tasks have, unless tasks and agents say so.
import { unknownHosts } from '../../contract/kinds/tasks/network.ts'
import { usualNetwork } from '../../contract/values/network-presets.ts'
import {
  booleanValue,
  define,
  namespaceNetworks,
  namespaces,
  networkEntries,
  oneOf,
  portNumbers,
  quantity,
  whole,
} from '../fields.ts'

export const networkSettings = {
  agentNetwork: define(networkEntries.default([...usualNetwork.agents]), {
    help: 'hosts and presets (packages, codehost, model, none, open) that agent programs may reach, unless their task, agent or namespace says so',
    example: 'model,codehost,packages,*.example.com',
    placeholder: 'host,...',
  }),
  commandNetwork: define(networkEntries.default([...usualNetwork.commands]), {
    help: 'the same for commands and containers; open is the network of the machine or pod',
    example: 'codehost,packages',
    placeholder: 'host,...',
  }),
  networkUnknown: define(oneOf(unknownHosts).default('refuse'), {
    help: 'what becomes of other hosts: they are refused, a person is asked, or they are allowed and written down',
  }),
  namespaceNetwork: define(namespaceNetworks.default([]), {
    help: 'hosts and presets of all programs in a namespace, with spaces between them; ask or allow among them says what becomes of others; each may also stand in a variable of its own, SVC_NAMESPACE_NETWORK_<NAMESPACE>',
    example: 'team-a=codehost packages *.example.com ask',
    placeholder: 'namespace=hosts,...',
    keyed: true,
  }),
  allowOpenNetwork: define(booleanValue.default(false), {
    help: 'tasks and agents may ask for open where their namespace has less',
  }),
  independentNetworks: define(namespaces.default([]), {
    help: 'namespaces in which what a task makes has the network that it would have by itself, instead of no more than that task has',
    example: 'team-a,team-b',
    placeholder: 'namespace,...',
  }),
  networkPorts: define(portNumbers.default([...usualNetwork.ports]), {
    help: 'ports that are reached at allowed hosts; others are named with the host, as in example.com:8443',
    placeholder: 'port,...',
  }),
  networkConnections: define(whole(1).default(256), {
    help: 'connections that the programs of one task may have at once',
  }),
  networkBytes: define(quantity.default('20Gi'), {
    help: 'bytes that the programs of one task may send and receive together',
    placeholder: 'quantity',
  }),
} as const
