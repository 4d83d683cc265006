// Every setting of the service once: its flag, its environment name, its place in the file, its default, its meaning.
import { z } from 'zod'
import {
  define,
  duration,
  flag,
  names,
  oneOf,
  quantity,
  retention,
  retentionOrEver,
  type Setting,
  text,
  thresholds,
  whole,
} from './fields.ts'
import { identitySettings } from './identity-settings.ts'

export type { Setting } from './fields.ts'

export const settings = {
  mode: define(oneOf(['auto', 'embedded', 'kubernetes']).default('auto'), {
    help: 'where tasks run and resources live; auto is kubernetes in a pod, else embedded',
  }),
  host: define(text.default('127.0.0.1'), { help: 'address to listen on (default in a pod: 0.0.0.0)' }),
  port: define(whole(0, 65_535).default(8080), {
    help: 'port to listen on; 0 picks a free one',
  }),
  publicHost: define(names.default([]), {
    help: 'Host names, beside the bound address, that requests may name',
    placeholder: 'name,...',
  }),
  tlsCertFile: define(text.optional(), {
    help: 'PEM file of the certificate: serves HTTPS; read again when it changes',
    placeholder: 'file',
  }),
  tlsKeyFile: define(text.optional(), { help: 'PEM file of its key', placeholder: 'file' }),
  corsAllowedOrigins: define(names.default([]), {
    help: 'origins of web pages that may call the API',
    placeholder: 'origin,...',
  }),
  dataDir: define(text.optional(), {
    help: 'folder of the store (default: $XDG_DATA_HOME/svc)',
    placeholder: 'dir',
  }),
  configDir: define(text.optional(), {
    help: 'folder of the token and the secret key (default: $XDG_CONFIG_HOME/svc)',
    placeholder: 'dir',
  }),
  secretKeyFile: define(text.optional(), { help: 'file of the key that encrypts secrets', placeholder: 'file' }),
  bootstrapToken: define(z.string('must be text').min(16, 'must have at least 16 characters').optional(), {
    help: "the owner's token; generated and kept in the config folder when absent",
    secret: true,
  }),
  readyFile: define(text.optional(), {
    help: 'gets {"url","token"} once the service serves',
    placeholder: 'file',
  }),
  idleExit: define(duration.optional(), {
    help: 'stop when nothing was asked or ran for so long',
    placeholder: 'duration',
  }),
  drainTimeout: define(duration.default('20s'), {
    help: 'how long a stop waits for requests under way',
    placeholder: 'duration',
  }),
  logLevel: define(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    help: 'least level that is logged',
  }),
  maxConcurrentTasks: define(whole(1).optional(), {
    help: 'tasks that run at once (default: twice the CPU count, at least 4; on a cluster no limit)',
  }),
  maxTasksPerNamespace: define(whole(0).default(0), { help: 'running tasks per namespace; 0 is no limit' }),
  workspaceSize: define(quantity.default('2Gi'), {
    help: 'bytes that one workspace may hold, unless its task says so (resources.limits.ephemeral-storage)',
    placeholder: 'quantity',
  }),
  workspaceFiles: define(whole(64).default(65_536), {
    help: 'files that one workspace may hold; on a cluster only bytes are bounded',
  }),
  keepFiles: define(whole(0, 1000).default(200), {
    help: 'files of the workspace of an ai task that are kept as artifacts, beside those below artifacts/',
  }),
  keepSize: define(quantity.default('50Mi'), {
    help: 'bytes of them together; all artifacts of a task are 50Mi at most',
    placeholder: 'quantity',
  }),
  scratchSize: define(quantity.default('8Gi'), {
    help: 'bytes that all scratch folders of one caller of the proxies may hold together',
    placeholder: 'quantity',
  }),
  diskReserve: define(quantity.default('1Gi'), {
    help: 'free bytes of the disk, or a twentieth of it, below which nothing new starts',
    placeholder: 'quantity',
  }),
  allowUnsandboxed: define(flag.default(false), { help: 'run local commands without a sandbox where none can be had' }),
  allowNetwork: define(names.default([]), {
    help: 'private networks that tools, callbacks and providers may reach',
    placeholder: 'cidr,...',
  }),
  containerSocket: define(text.optional(), {
    help: 'Docker-compatible socket (default: DOCKER_HOST, then the usual places)',
    placeholder: 'path',
  }),
  codeImage: define(text.default('python:3.12-slim'), {
    help: 'image for code_exec on a cluster, or where only a container engine is there',
    placeholder: 'image',
  }),
  maxSandboxes: define(whole(1).optional(), {
    help: 'runs of code_exec of proxies and of workers in pods at once; more wait for half of their timeout (default: two for each core, at least 4; on a cluster 8)',
  }),
  databaseUrl: define(
    text.regex(/^postgres(ql)?:\/\//, 'must be an address such as postgres://user:password@host:5432/svc').optional(),
    {
      help: 'PostgreSQL that keeps the records in kubernetes mode; several replicas share it',
      secret: true,
      placeholder: 'url',
    },
  ),
  databasePoolSize: define(whole(1, 1000).default(10), {
    help: 'connections to PostgreSQL per replica at most, beside the one that listens',
  }),
  planStore: define(oneOf(['sql', 'none']).default('sql'), { help: 'where plans are kept; none turns plans off' }),
  hideUnavailableTools: define(flag.default(false), { help: 'omit built-in tools that cannot run here' }),
  searchBackend: define(oneOf(['searxng', 'brave', 'tavily', 'json']).optional(), { help: 'backend of web_search' }),
  searchUrl: define(z.url('must be an address such as http://127.0.0.1:8888').optional(), {
    help: 'address of the search backend',
    placeholder: 'url',
  }),
  searchApiKey: define(text.optional(), { help: 'key of the search backend', secret: true }),
  defaultModel: define(text.optional(), {
    help: 'model of the provider that is made from a key in the environment',
    placeholder: 'name',
  }),
  referenceWait: define(duration.default('5m'), {
    help: 'how long a task waits for an agent, provider, secret, tool or skill that is not there',
    placeholder: 'duration',
  }),
  toolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in a task',
    placeholder: 'duration',
  }),
  maxIterations: define(whole(1).default(50), { help: 'model calls of one ai task at most' }),
  maxToolCallsPerTurn: define(whole(1, 10_000).default(128), {
    help: 'tool calls of one model turn that are run, in tasks, chat and proxies; the model is told that the rest were not',
  }),
  chatEnabled: define(flag.default(true), { help: 'whether the chat endpoint is served' }),
  chatProvider: define(z.string('must be text').default(''), {
    help: 'provider of chat and proxies where a request names none (default: the one named default)',
    placeholder: 'name',
  }),
  chatModel: define(z.string('must be text').default(''), {
    help: 'model of chat and proxies where neither request, agent nor provider names one',
    placeholder: 'name',
  }),
  chatMaxIterations: define(whole(1).default(50), { help: 'model calls of one chat turn or proxy request at most' }),
  chatMaxDuration: define(duration.default('30m'), {
    help: 'wall-clock time of one chat turn or proxy request',
    placeholder: 'duration',
  }),
  chatToolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in chat and proxies',
    placeholder: 'duration',
  }),
  otlpEndpoint: define(text.optional(), {
    help: 'collector that gets spans of model calls (OTLP over HTTP); none are made without it',
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    placeholder: 'url',
  }),
  chatMaxConcurrent: define(whole(1).default(10), { help: 'chat turns that run at once; more get 429' }),
  chatMaxConcurrentPerNamespace: define(whole(1).default(8), {
    help: 'chat turns of one namespace that run at once, those of owners apart',
  }),
  chatMaxConcurrentPerCaller: define(whole(1).default(5), {
    help: 'chat turns of one caller who is no owner that run at once',
  }),
  chatMaxTasksPerTurn: define(whole(1).default(5), { help: 'tasks that one chat turn may create' }),
  chatMaxSessionSize: define(whole(1024).default(512_000), {
    help: 'bytes of a chat session above which its oldest messages are left out',
    placeholder: 'bytes',
  }),
  kubeconfig: define(text.optional(), {
    help: 'kubernetes mode outside a pod: file that names the cluster (default: KUBECONFIG, then ~/.kube/config)',
    placeholder: 'file',
  }),
  operatorNamespace: define(text.optional(), {
    help: "kubernetes mode: namespace of the service itself (default: the pod's own)",
    placeholder: 'namespace',
  }),
  watchNamespace: define(text.optional(), {
    help: 'the one namespace that is served (default: all)',
    placeholder: 'namespace',
  }),
  enforceNamespaceIsolation: define(flag.default(false), {
    help: 'keep every caller but the owner in the namespace of their own, and what resources name in theirs; who has none is refused',
  }),
  controllerUrl: define(z.url('must be an address such as http://svc.svc-system.svc:8080').optional(), {
    help: 'kubernetes mode: address of this service as pods reach it (default: the Service `svc` of its namespace)',
    placeholder: 'url',
  }),
  workerImage: define(text.optional(), {
    help: "kubernetes mode: image of workers; the service's own image serves",
    placeholder: 'image',
  }),
  imagePullSecrets: define(names.default([]), {
    help: 'kubernetes mode: Secrets with credentials of image registries, in the namespaces where pods run',
    placeholder: 'name,...',
  }),
  priorityClasses: define(thresholds.default([]), {
    help: 'kubernetes mode: priority class of pods by the least priority of their task, such as low=0,urgent=800',
    placeholder: 'class=priority,...',
  }),
  sandboxNamespace: define(text.optional(), {
    help: "kubernetes mode: namespace of the pods that run code_exec (default: the service's own)",
    placeholder: 'namespace',
  }),
  codeLanguages: define(names.default(['python', 'bash']), {
    help: 'kubernetes mode: languages that the image of code_exec has',
    placeholder: 'language,...',
  }),
  metricsHost: define(text.optional(), {
    help: 'kubernetes mode: address that metrics listen on (default: that of --host)',
    placeholder: 'address',
  }),
  metricsPort: define(whole(0, 65_535).default(8081), { help: 'kubernetes mode: port that metrics listen on' }),
  proxyMaxConcurrent: define(whole(0).default(0), {
    help: 'proxy requests of one caller that run at once; more get 429; 0 is no limit',
  }),
  proxyMaxLoops: define(whole(1).default(200), {
    help: 'proxy requests that run server-side tools or are translated at once; more get 429',
  }),
  proxyMaxLoopsPerNamespace: define(whole(1).default(150), {
    help: 'the same of one namespace, those of owners apart',
  }),
  proxyMaxLoopsPerCaller: define(whole(1).default(100), {
    help: 'the same of one caller who is no owner',
  }),
  proxyRequestsPerMinute: define(whole(0).default(0), {
    help: 'proxy requests of one caller per minute; more get 429; 0 is no limit',
  }),
  taskTtl: define(retentionOrEver.default('30d'), {
    help: 'how long tasks that have ended are kept, unless they say so themselves; 0 is for ever',
    placeholder: 'duration',
  }),
  sessionRetention: define(retention.default('90d'), {
    help: 'how long an unused session is kept',
    placeholder: 'duration',
  }),
  eventRetention: define(retention.default('30d'), {
    help: 'how long timeline events are kept',
    placeholder: 'duration',
  }),
  auditLevel: define(oneOf(['writes', 'all']).default('writes'), {
    help: 'what the audit log keeps: writes and refusals, or all requests',
  }),
  auditRetention: define(retention.default('90d'), {
    help: 'how long records of the audit log are kept',
    placeholder: 'duration',
  }),
  usageRetention: define(retention.default('400d'), {
    help: 'how long usage records are kept',
    placeholder: 'duration',
  }),
  ...identitySettings,
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
export type Settings = { readonly [N in SettingName]: z.output<(typeof settings)[N]['schema']> }

/** `maxConcurrentTasks` -> `max-concurrent-tasks`, the flag's name. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxConcurrentTasks` -> `SVC_MAX_CONCURRENT_TASKS` (NAME-002). */
export function environmentNameOf(name: string): string {
  const { env }: Setting = settings[name as SettingName] ?? {}
  return env ?? `SVC_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}
