// Address, start and end of the service, what it logs, and where it stores what for how long.
import { z } from 'zod'
import {
  booleanValue,
  define,
  duration,
  names,
  oneOf,
  quantity,
  retention,
  retentionOrEver,
  textValue,
  whole,
} from '../fields.ts'

/** Address, start and end of the service, and what it logs. */
export const serviceSettings = {
  mode: define(oneOf(['auto', 'embedded', 'kubernetes']).default('auto'), {
    help: 'where tasks run and resources live; auto is kubernetes in a pod, else embedded',
  }),
  host: define(textValue.default('127.0.0.1'), { help: 'address to listen on (default in a pod: 0.0.0.0)' }),
  port: define(whole(0, 65_535).default(8080), {
    help: 'port to listen on; 0 picks a free one; where none is chosen and another program has it, the next free one is taken',
  }),
  publicHost: define(names.default([]), {
    help: 'Host names that requests may use, besides the bound address',
    example: 'svc.example.com',
    placeholder: 'name,...',
  }),
  tlsCertFile: define(textValue.optional(), {
    help: 'PEM file of the certificate: serves HTTPS; read again when it changes',
    example: '/etc/svc/tls.crt',
    placeholder: 'file',
  }),
  tlsKeyFile: define(textValue.optional(), {
    help: 'PEM file of its key',
    example: '/etc/svc/tls.key',
    placeholder: 'file',
  }),
  corsAllowedOrigins: define(names.default([]), {
    help: 'origins of web pages that may call the API',
    example: 'https://app.example.com',
    placeholder: 'origin,...',
  }),
  dashboard: define(booleanValue.default(true), { help: 'whether the dashboard is served' }),
  readyFile: define(textValue.optional(), {
    help: 'file that receives {"url","token"} once the service is serving',
    example: '/run/svc/ready.json',
    placeholder: 'file',
  }),
  idleExit: define(duration.optional(), {
    help: 'stop after this long without requests or running tasks',
    example: '15m',
    placeholder: 'duration',
  }),
  drainTimeout: define(duration.default('20s'), {
    help: 'how long stopping waits for running requests',
    placeholder: 'duration',
  }),
  logLevel: define(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    help: 'lowest level that is logged',
  }),
  alertWebhook: define(
    textValue.regex(/^https?:\/\//, 'must be an address such as https://example.com/alerts').optional(),
    {
      help: 'address that alerts of budgets and approvals are sent to; without it they are only listed and shown',
      example: 'https://example.com/alerts',
      placeholder: 'url',
    },
  ),
  alertSecret: define(textValue.optional(), {
    help: 'secret that these deliveries are signed with (X-Svc-Signature-256)',
    secret: true,
  }),
  otlpEndpoint: define(textValue.optional(), {
    help: 'collector for spans of tasks and model calls (OTLP over HTTP); without it none are recorded',
    example: 'http://127.0.0.1:4318',
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    placeholder: 'url',
  }),
  otlpHeaders: define(textValue.optional(), {
    help: 'headers for the collector, such as a key: `name=value`, with commas between them, values as in addresses',
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    secret: true,
  }),
  otlpContents: define(booleanValue.default(false), {
    help: 'whether spans carry arguments and results of tools and texts of models',
    env: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
  }),
} as const

/** Where the service keeps its data, and for how long. */
export const storageSettings = {
  dataDir: define(textValue.optional(), {
    help: 'folder of the store (default: $XDG_DATA_HOME/svc)',
    example: '/var/lib/svc',
    placeholder: 'dir',
  }),
  configDir: define(textValue.optional(), {
    help: 'folder of the token and the secret key (default: $XDG_CONFIG_HOME/svc)',
    example: '/etc/svc',
    placeholder: 'dir',
  }),
  secretKeyFile: define(textValue.optional(), {
    help: 'file of the key that encrypts secrets',
    example: '/etc/svc/secret-key',
    placeholder: 'file',
  }),
  bootstrapToken: define(z.string('must be text').min(16, 'must have at least 16 characters').optional(), {
    help: "the owner's token; generated and stored in the config folder when absent",
    secret: true,
  }),
  databaseUrl: define(
    textValue
      .regex(/^postgres(ql)?:\/\//, 'must be an address such as postgres://user:password@host:5432/svc')
      .optional(),
    {
      help: 'PostgreSQL that keeps the records in kubernetes mode; several replicas share it',
      example: 'postgres://svc@db.example.com:5432/svc',
      secret: true,
      placeholder: 'url',
    },
  ),
  databasePoolSize: define(whole(1, 1000).default(10), {
    help: 'most connections to PostgreSQL per replica, besides the one that listens',
  }),
  planStore: define(oneOf(['sql', 'none']).default('sql'), { help: 'where plans are stored; none disables plans' }),
  diskReserve: define(quantity.default('1Gi'), {
    help: 'free bytes on the disk, or a twentieth of it, below which nothing new starts',
    placeholder: 'quantity',
  }),
  taskTtl: define(retentionOrEver.default('30d'), {
    help: 'how long ended tasks are kept, unless they set it themselves; 0 is forever',
    placeholder: 'duration',
  }),
  sessionRetention: define(retention.default('90d'), {
    help: 'how long an unused session is kept',
    placeholder: 'duration',
  }),
  responseRetention: define(retention.default('24h'), {
    help: 'how long a response of the proxies is kept, for requests that go on from it',
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
} as const
