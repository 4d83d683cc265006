// What only matters on a cluster.
import { z } from 'zod'
import { cores, define, names, namespaces, oneOf, quantity, textValue, thresholds, whole } from '../fields.ts'

/** The service's own labels tell it what belongs to whom. */
const prefixes = names.refine(
  (all) => !all.some((prefix) => 'svc.ai/'.startsWith(prefix) || prefix.startsWith('svc.ai/')),
  {
    message: 'must not cover svc.ai/, which is the service’s own',
  },
)

/** What only matters on a cluster. */
export const kubernetesSettings = {
  kubeconfig: define(textValue.optional(), {
    help: 'kubernetes mode outside a pod: file that names the cluster (default: KUBECONFIG, then ~/.kube/config)',
    example: '~/.kube/config',
    placeholder: 'file',
  }),
  operatorNamespace: define(textValue.optional(), {
    help: "kubernetes mode: namespace of the service itself (default: the pod's own)",
    example: 'svc-system',
    placeholder: 'namespace',
  }),
  watchNamespace: define(namespaces.default([]), {
    help: 'namespaces that are served (default: all); callers without one of their own act in the first',
    example: 'team-a,team-b',
    placeholder: 'namespace,...',
  }),
  controllerUrl: define(z.url('must be an address such as http://svc.svc-system.svc:8080').optional(), {
    help: 'kubernetes mode: address of this service as pods reach it (default: the Service `svc` of its namespace)',
    example: 'http://svc.svc-system.svc:8080',
    placeholder: 'url',
  }),
  workerImage: define(textValue.optional(), {
    help: "kubernetes mode: image of workers; the service's own image serves",
    example: 'registry.example.com/svc:0.1.0',
    placeholder: 'image',
  }),
  workerAuthorities: define(textValue.optional(), {
    help: 'kubernetes mode: file with certificates (PEM) that workers trust beside the public ones, read at start',
    example: '/etc/svc-ca/ca.crt',
    placeholder: 'file',
  }),
  imagePullSecrets: define(names.default([]), {
    help: 'kubernetes mode: Secrets with credentials of image registries, in the namespaces where pods run',
    example: 'registry-key',
    placeholder: 'name,...',
  }),
  priorityClasses: define(thresholds.default([]), {
    help: 'kubernetes mode: priority class of pods by the least priority of their task, such as low=0,urgent=800',
    example: 'low=0,urgent=800',
    placeholder: 'class=priority,...',
  }),
  propagateLabels: define(prefixes.default([]), {
    help: "kubernetes mode: prefixes of a task's labels that its Job and pod have as well, for cost allocation, queues and meshes",
    example: 'cost.example.com/,team',
    placeholder: 'prefix,...',
  }),
  propagateAnnotations: define(prefixes.default([]), {
    help: 'kubernetes mode: the same of annotations',
    example: 'cluster-autoscaler.kubernetes.io/safe-to-evict',
    placeholder: 'prefix,...',
  }),
  helperCpuRequest: define(cores.default('5m'), {
    help: 'kubernetes mode: cores reserved for each helper beside a command or a checkout',
    placeholder: 'quantity',
  }),
  helperMemoryRequest: define(quantity.default('32Mi'), {
    help: 'kubernetes mode: memory reserved for each helper',
    placeholder: 'quantity',
  }),
  helperCpu: define(cores.default('500m'), {
    help: 'kubernetes mode: cores that a helper may use',
    placeholder: 'quantity',
  }),
  helperMemory: define(quantity.default('256Mi'), {
    help: 'kubernetes mode: memory that a helper may use',
    placeholder: 'quantity',
  }),
  sandboxNamespace: define(textValue.optional(), {
    help: "kubernetes mode: namespace of the pods that run code_exec (default: the service's own)",
    example: 'svc-sandboxes',
    placeholder: 'namespace',
  }),
  codeLanguages: define(names.default(['python', 'bash']), {
    help: 'kubernetes mode: languages that the image of code_exec has',
    placeholder: 'language,...',
  }),
  gatePort: define(whole(0, 65_535).default(8082), {
    help: 'kubernetes mode: port of the gate that programs of tasks reach the network through, at the address of --controller-url',
  }),
  networkEnforcement: define(oneOf(['required', 'warn']).default('warn'), {
    help: 'kubernetes mode: where the cluster enforces no network policies, tasks without an open network wait (required), or run with a warning',
  }),
  metricsHost: define(textValue.optional(), {
    help: 'kubernetes mode: address that metrics listen on (default: that of --host)',
    example: '0.0.0.0',
    placeholder: 'address',
  }),
  metricsPort: define(whole(0, 65_535).default(8081), { help: 'kubernetes mode: port that metrics listen on' }),
} as const
