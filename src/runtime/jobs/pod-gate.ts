// Whether the cluster's network plugin enforces policies: without it the gate is only what well-behaved programs use. A pod in
// the service's own namespace that may reach the gate alone tries to reach the cluster's API.
import { unlessGone } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { messageOf, SvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { hardenedContainer, hardenPod, makeResources } from './hardening.ts'
import { listPullSecrets } from './manifests.ts'
import { type GateAddress, guardExits, makeGuardCommand } from './network-guard.ts'
import { applyPolicy, gated, makeGatePolicy } from './network-policies.ts'
import { containerName, type Pod, podLabels, pods } from './objects.ts'
import { type Lookup, type PodReach, resolveReach } from './reach.ts'

/** `unreachable`: not even the gate is reached from pods. */
export type Enforcement = keyof typeof guardExits

export type ProbeOptions = {
  api: Pick<KubernetesApi, 'request'>
  clock: Clock
  ids: Ids
  instance: string
  namespace: string
  /** Has Node. */
  image: string
  imagePullSecrets?: readonly string[]
}

type EnforcementProbe = ProbeOptions & { gate: GateAddress; reach: PodReach }

const enforcements = Object.entries(guardExits) as [Enforcement, number][]
const pauseMs = 500
/** The image may have to be pulled. */
const podSeconds = 120
const polls = (podSeconds * 1000) / pauseMs

function makeProbePod(probe: EnforcementProbe, name: string): object {
  const { namespace, instance, image, gate, reach, imagePullSecrets = [] } = probe
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { [podLabels.instance]: instance, [podLabels.component]: 'probe', [podLabels.network]: gated },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: podSeconds,
      automountServiceAccountToken: false,
      hostAliases: reach.hostAliases,
      ...listPullSecrets(imagePullSecrets),
      securityContext: hardenPod(1000),
      containers: [
        {
          name: containerName,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: makeGuardCommand(gate),
          resources: makeResources('sandbox', { cpu: 0.5, memoryBytes: 128 * 1024 ** 2 }),
          securityContext: hardenedContainer,
        },
      ],
    },
  }
}

function readExitCode({ status }: Pod): number | undefined {
  return status?.containerStatuses?.find(({ name }) => name === containerName)?.state?.terminated?.exitCode
}

/** Undefined: it could not be found out, because the pod did not run. */
async function probeEnforcement(probe: EnforcementProbe, signal: AbortSignal): Promise<Enforcement | undefined> {
  const { api, clock, ids, instance, namespace, reach } = probe
  const policy = makeGatePolicy({ namespace, instance }, reach)
  await applyPolicy(api, policy, signal)
  const name = `svc-network-probe-${ids.hex(6)}`
  await api.request({ verb: 'create', collection: pods, namespace, body: makeProbePod(probe, name), signal })
  try {
    for (let poll = 0; poll < polls; poll += 1) {
      await clock.sleep(pauseMs, signal)
      const code = readExitCode(await api.request<Pod>({ verb: 'get', collection: pods, namespace, name, signal }))
      if (code !== undefined) return enforcements.find(([, exit]) => exit === code)?.[0]
    }
    return undefined
  } finally {
    const deletion = { verb: 'delete' as const, collection: pods, namespace, name, query: { gracePeriodSeconds: 0 } }
    await unlessGone(api.request(deletion))
  }
}

/** How long an answer holds that may be another after a change of the cluster. */
const missingMs = 10 * 60_000

export type PodGateOptions = ProbeOptions & {
  /** Of the service and of its gate, as pods reach them; known once they listen. */
  serviceUrl: string
  gateUrl(): string
  /** Whether pods are refused where policies are not enforced. */
  required: boolean
  log: { info(message: string): void; warn(fields: object, message: string): void }
  find?: Lookup
}

/** What a pod is given whose network is the gate. */
export type PodGate = {
  /** Unavailable while there is no network for such a pod. */
  prepare(): Promise<{ reach: PodReach; guarded?: GateAddress }>
}

const advice =
  'the programs of tasks reach the network past the gate; use a network plugin that enforces NetworkPolicies'

function readAddress(url: string): GateAddress {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** The probe runs once, and again some time after it found no enforcement. */
export function createPodGate(options: PodGateOptions): PodGate {
  const { clock, serviceUrl, required, log } = options
  let known: { probed: Promise<Enforcement | undefined>; until: number } | undefined

  async function probe(reach: PodReach, gate: GateAddress): Promise<Enforcement | undefined> {
    const found = await probeEnforcement({ ...options, gate, reach }, AbortSignal.timeout(podSeconds * 1000))
    if (found === 'missing') log.warn({}, `this cluster enforces no network policies: ${advice}`)
    else if (found === 'enforced') log.info('this cluster enforces network policies')
    else log.warn({ gate }, 'it could not be found out whether this cluster enforces network policies')
    return found
  }

  function ask(reach: PodReach, gate: GateAddress): Promise<Enforcement | undefined> {
    if (known !== undefined && clock.now().getTime() < known.until) return known.probed
    const until = (found: Enforcement | undefined) =>
      found === 'enforced' ? Number.POSITIVE_INFINITY : clock.now().getTime() + missingMs
    const started = { probed: probe(reach, gate), until: Number.POSITIVE_INFINITY }
    known = started
    started.probed = started.probed.catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'the probe of network policies failed')
      return undefined
    })
    void started.probed.then((found) => {
      started.until = until(found)
    })
    return started.probed
  }

  return {
    async prepare() {
      const gateUrl = options.gateUrl()
      const gate = readAddress(gateUrl)
      const reach = await resolveReach([serviceUrl, gateUrl], options.find)
      // What could not be found out, each pod finds out for itself.
      if ((await ask(reach, gate)) !== 'missing') return { reach, guarded: gate }
      if (!required) return { reach }
      throw new SvcError(
        'Unavailable',
        `this cluster enforces no network policies, which --network-enforcement requires`,
      )
    },
  }
}
