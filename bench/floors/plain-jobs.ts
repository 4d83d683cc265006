// The floor of tasks on a cluster: as many bare Jobs with the same pod, made at once and waited for.
import { kubectl } from '../../test/fixtures/kubectl.ts'

type Job = { metadata: { creationTimestamp: string }; status: { succeeded?: number; failed?: number } }

function makeJob(name: string, image: string): object {
  const container = {
    name: 'worker',
    image,
    command: ['true'],
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '1', memory: '2Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  }
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsUser: 1000, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { bench: 'floor' } },
    spec: { backoffLimit: 0, template: { spec } },
  }
}

/** Seconds until all have succeeded; they are removed after it. */
export async function timePlainJobs(count: number, namespace: string, image: string): Promise<number> {
  const manifests = Array.from({ length: count }, (_, index) =>
    JSON.stringify(makeJob(`floor-${count}-${index}`, image)),
  )
  const started = performance.now()
  await kubectl(['create', '-f', '-'], { namespace, input: manifests.join('\n') })
  for (;;) {
    const text = await kubectl(['get', 'jobs', '-l', 'bench=floor', '-o', 'json'], { namespace })
    const { items } = JSON.parse(text) as { items: Job[] }
    if (items.some(({ status }) => status.failed)) throw new Error('a Job of the floor failed')
    if (items.filter(({ status }) => status.succeeded).length === count) break
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const seconds = (performance.now() - started) / 1000
  await kubectl(['delete', 'jobs', '-l', 'bench=floor', '--wait', '--cascade=foreground'], { namespace })
  return seconds
}
