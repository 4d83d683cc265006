// The pod for one run of untrusted code: no network, no account, no secret, nothing of the service.
import { hardenContainer, hardenPod, makeResources } from '../jobs/hardening.ts'
import { listPullSecrets } from '../jobs/manifests.ts'
import { containerName, labels } from '../jobs/names.ts'
import type { OwnerReference } from '../jobs/objects.ts'

export type SandboxPod = {
  name: string
  namespace: string
  instance: string
  /** Identifies this replica's pool. */
  pool: string
  image: string
  /** A separate user on the node, because process limits are counted by user. */
  user: number
  memoryBytes: number
  cpu: number
  /** Size of each of its two writable folders, which are in memory. */
  diskBytes: number
  /** A pod that nobody takes ends by itself. */
  lifeSeconds: number
  owner?: OwnerReference | undefined
  /** Secrets with the registries' credentials, by name. */
  imagePullSecrets?: readonly string[] | undefined
}

/** What a task can name: two Secrets of 1 MiB. */
const secretBytes = 4 * 1024 * 1024

export const poolLabel = 'svc.ai/sandbox-pool'

/** Handles signals at once: a waiting pod has nothing to finish. */
const waitScript = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'

function makeFolder(name: string, bytes: number) {
  return { name, emptyDir: { medium: 'Memory', sizeLimit: String(bytes) } }
}

/** The folders use memory of the pod, in addition to the code's own limit. */
function makeLimits({ memoryBytes, diskBytes, cpu }: SandboxPod) {
  return makeResources('sandbox', { cpu, memoryBytes: memoryBytes + 2 * diskBytes })
}

export function makeSandboxPod(pod: SandboxPod): object {
  const { name, namespace, instance, pool, owner } = pod
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { [labels.instance]: instance, [labels.component]: 'sandbox', [poolLabel]: pool },
      ownerReferences: owner && [owner],
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: pod.lifeSeconds,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostname: 'svc',
      ...listPullSecrets(pod.imagePullSecrets ?? []),
      // Without DNS, even where the network plugin enforces no policy.
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      securityContext: hardenPod(pod.user),
      containers: [
        {
          name: containerName,
          image: pod.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/sh', '-c', waitScript],
          workingDir: '/workspace',
          resources: makeLimits(pod),
          securityContext: hardenContainer,
          volumeMounts: [
            { name: 'workspace', mountPath: '/workspace' },
            { name: 'tmp', mountPath: '/tmp' },
            { name: 'input', mountPath: '/run/svc/input' },
            { name: 'secrets', mountPath: '/secrets' },
          ],
        },
      ],
      volumes: [
        makeFolder('workspace', pod.diskBytes),
        makeFolder('tmp', pod.diskBytes),
        makeFolder('input', pod.diskBytes),
        makeFolder('secrets', secretBytes),
      ],
    },
  }
}
