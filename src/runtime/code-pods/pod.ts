// The pod for one run of untrusted code: no network, no account, no secret, nothing of the service. A command reaches
// it entirely over standard input, because the server logs the URL of an exec.
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { quoteWord } from '../../lib/shell-words.ts'
import type { SandboxCommand } from '../../ports/workspaces/sandbox.ts'
import { baseEnvironment, isNode, limitHeap, limitProcess, workspaceInside } from '../attempts/process-limits.ts'
import { hardenedContainer, hardenPod, makeResources } from '../jobs/hardening.ts'
import { listPullSecrets } from '../jobs/manifests.ts'
import { containerName, podLabels } from '../jobs/objects.ts'
import { packFiles } from './tar.ts'

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

export const sandboxPoolLabel = 'svc.ai/sandbox-pool'

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
      labels: { [podLabels.instance]: instance, [podLabels.component]: 'sandbox', [sandboxPoolLabel]: pool },
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
          securityContext: hardenedContainer,
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

const inputFolder = '/run/svc/input'

/** Reads the parts of the input, of known sizes, into numbered files; then runs the first one. */
const receiveScript = `number=0
for size in "$@"; do head -c "$size" > ${inputFolder}/$number || exit 125; number=$((number + 1)); done
exec /bin/sh ${inputFolder}/0`

type PodLaunch = { argv: string[]; input: Buffer }

/** The waiting shell and its sleep, and the shell of the exec. */
const ownProcesses = 3

function limitCommand(command: SandboxCommand): string[] {
  const { limits, files = {} } = command
  const moves = Object.keys(files).map((target, index) => ({ source: `${inputFolder}/${index + 2}`, target }))
  const processLimits = {
    cpuSeconds: limits.cpuSeconds,
    fileBytes: limits.diskBytes,
    openFiles: 1024,
    processes: limits.processes + ownProcesses,
    ...(isNode(command.argv) ? {} : { addressBytes: limits.memoryBytes * 2 }),
  }
  return limitProcess(limitHeap(command.argv, limits.memoryBytes), processLimits, moves)
}

/**
 * The environment is built from scratch, because the pod's own names the cluster's services. Programs left running are
 * killed, or the exec would wait until their output is closed; the pod's first process survives (kill(2)).
 */
function makeScript(command: SandboxCommand, first: { readOnly: number; archive: number | undefined }): string {
  const environment = { ...baseEnvironment(workspaceInside), ...command.env }
  const variables = Object.entries(environment).map(([name, value]) => quoteWord(`${name}=${value}`))
  const argv = limitCommand(command).map(quoteWord)
  const run = `env -i ${variables.join(' ')} ${argv.join(' ')} < ${inputFolder}/1`
  const unpack = first.archive === undefined ? '' : `tar -xmf ${inputFolder}/${first.archive} || exit 125\n`
  const copies = Object.keys(command.readOnlyFiles ?? {}).map((path, index) => {
    const [source, target] = [`${inputFolder}/${first.readOnly + index}`, quoteWord(path)]
    return `mkdir -p "$(dirname ${target})" && cp ${source} ${target} && chmod 0444 ${target} || exit 125\n`
  })
  return `cd ${workspaceInside} || exit 125\n${copies.join('')}${unpack}${run}\ncode=$?\nkill -9 -1 2> /dev/null\nexit $code\n`
}

export function makeLaunch(command: SandboxCommand): PodLaunch {
  const { stdin = '', files = {}, readOnlyFiles = {}, workspaceFiles = [] } = command
  const contents = [...Object.values(files), ...Object.values(readOnlyFiles)]
  const archive = workspaceFiles.length === 0 ? [] : [packFiles(workspaceFiles)]
  const numbers = { readOnly: Object.keys(files).length + 2, archive: contents.length + 2 }
  const script = makeScript(command, archive.length === 0 ? { ...numbers, archive: undefined } : numbers)
  const parts = [...[script, stdin, ...contents].map((part) => Buffer.from(part)), ...archive]
  const sizes = parts.map((part) => String(part.length))
  return { argv: ['/bin/sh', '-c', receiveScript, 'sh', ...sizes], input: Buffer.concat(parts) }
}
