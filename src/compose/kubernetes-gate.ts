// The gate of the network in Kubernetes mode: one port for the programs in all pods, at the address of the service.
import { createHmac } from 'node:crypto'
import { createGateCredentials } from '../auth/gate-credentials.ts'
import type { Config } from '../config/load.ts'
import { listProxyVariables } from '../contract/values/proxy-variables.ts'
import { openSharedPort } from '../egress/network/gate-port.ts'
import { systemClock as clock } from '../lib/system-clock.ts'
import { findGatedAttempt } from '../lookup/gated-attempt.ts'
import type { Workloads } from '../ports/tasks/workloads.ts'
import { withGate } from '../runtime/jobs/gated-workloads.ts'
import type { KubernetesWorkloads } from '../runtime/jobs/workloads.ts'
import type { Closing } from '../service/closing.ts'
import { type NetworkParts, openNetworkGates } from './network-gates.ts'
import { networkOf } from './settings.ts'

export type ClusterGate = {
  /** Of the gate, as pods reach it. */
  url(): string
  /** Tells programs where it is. */
  addTo<W extends Workloads>(workloads: W): W
  /** At the port of the settings, until the service ends. */
  listen(parts: Omit<NetworkParts, 'clock'> & Pick<KubernetesWorkloads, 'ownerOf'>, closing: Closing): Promise<void>
}

/** `key` is the same in all replicas. */
export function createClusterGate(config: Config, controllerUrl: string, key: Uint8Array): ClusterGate {
  const credentials = createGateCredentials({ key: createHmac('sha256', key).update('gate').digest(), clock })
  const { hostname } = new URL(controllerUrl)
  let port = config.gatePort
  const url = () => `http://${hostname}:${port}`
  return {
    url,
    addTo: (workloads) => withGate(workloads, { url, mint: credentials.mint, listVariables: listProxyVariables }),
    async listen({ ownerOf, ...parts }, closing) {
      const lookup = {
        resources: parts.resources,
        settings: networkOf(config),
        contextMode: config.contextTokenAuthzMode,
      }
      const opened = await openSharedPort(
        {
          gates: openNetworkGates(config, { ...parts, clock }),
          identify: credentials.verify,
          findAttempt: (identity) => findGatedAttempt(lookup, identity),
          ownerOf,
          log: parts.log,
        },
        { host: config.host, port },
      )
      port = opened.port
      closing.add(opened.close)
    },
  }
}
