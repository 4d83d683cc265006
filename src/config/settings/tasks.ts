// How many tasks run, and what each of them gets.
import {
  booleanValue,
  commands,
  cores,
  define,
  duration,
  images,
  namespaces,
  oneOf,
  quantity,
  textValue,
  whole,
} from '../fields.ts'

/** How many tasks run, and what each of them gets. */
export const tasksSettings = {
  maxConcurrentTasks: define(whole(1).optional(), {
    help: 'tasks that run at once (default: those with a process of their own twice the CPU count, at least 4; those that share one 1,000 in each; on a cluster no limit)',
    example: '8',
  }),
  isolation: define(oneOf(['shared', 'process']).default('shared'), {
    help: 'shared: ai tasks share processes, unless they, their agents or their namespaces ask for their own; process: each attempt has its own (on a cluster: always)',
  }),
  processNamespaces: define(namespaces.default([]), {
    help: 'namespaces whose ai tasks never share a process',
    example: 'team-a,team-b',
  }),
  maxTasksPerNamespace: define(whole(0).default(0), { help: 'running tasks per namespace; 0 means no limit' }),
  taskCpu: define(cores.default('1'), {
    help: 'cores that a task may use, unless it or its agent sets resources',
    placeholder: 'quantity',
  }),
  taskMemory: define(quantity.default('2Gi'), {
    help: 'memory that a task may use, unless it or its agent sets resources',
    placeholder: 'quantity',
  }),
  taskCpuRequest: define(cores.optional(), {
    help: 'kubernetes mode: cores reserved for the pod of a task without requests (default: 50m, of a command 10m)',
    example: '250m',
    placeholder: 'quantity',
  }),
  taskMemoryRequest: define(quantity.optional(), {
    help: 'kubernetes mode: memory reserved for the pod of a task without requests (default: 128Mi, of a command 32Mi)',
    example: '512Mi',
    placeholder: 'quantity',
  }),
  workspaceSize: define(quantity.default('2Gi'), {
    help: 'bytes that one workspace may hold, unless its task sets it (resources.limits.ephemeral-storage)',
    placeholder: 'quantity',
  }),
  workspaceFiles: define(whole(64).default(65_536), {
    help: 'files that one workspace may hold; on a cluster only bytes are limited',
  }),
  keepFiles: define(whole(0, 1000).default(200), {
    help: 'files of the workspace of an ai task that are kept as artifacts, besides those in artifacts/',
  }),
  keepSize: define(quantity.default('50Mi'), {
    help: 'total bytes of these files; all artifacts of a task together are at most 50Mi',
    placeholder: 'quantity',
  }),
  allowUnsandboxed: define(booleanValue.default(false), {
    help: 'run local commands without a sandbox when none is available',
  }),
  containerSocket: define(textValue.optional(), {
    help: 'Docker-compatible socket (default: DOCKER_HOST, then the usual places)',
    example: '/var/run/docker.sock',
    placeholder: 'path',
  }),
  referenceWait: define(duration.default('5m'), {
    help: 'how long a task waits for an agent, provider, secret, tool or skill that does not exist',
    placeholder: 'duration',
  }),
  agentProgram: define(commands.default([]), {
    help: 'programs for agents beside those that are known, which speak the Agent Client Protocol; an agent names one in runtime.runtimeRef',
    example: 'qwen=qwen --acp',
    placeholder: 'name=command,...',
  }),
  agentImage: define(images.default([]), {
    help: 'kubernetes mode: images of the agent programs, by the name of the runtime or of an added program; without one it is refused',
    example: 'llma-cli=registry.example/svc-llma-cli:1',
    placeholder: 'name=image,...',
  }),
  defaultModel: define(textValue.optional(), {
    help: 'model of the provider that is created from a key in the environment',
    example: 'large-model',
    placeholder: 'name',
  }),
  toolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in a task',
    placeholder: 'duration',
  }),
  maxIterations: define(whole(1).default(50), { help: 'most model calls of one ai task' }),
  maxToolCallsPerTurn: define(whole(1, 10_000).default(128), {
    help: 'most tool calls of one model turn that run, in tasks, chat and proxies; the model is told about the rest',
  }),
} as const
