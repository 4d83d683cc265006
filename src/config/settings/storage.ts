// Where the service keeps its data, and for how long.
import { z } from 'zod'
import { define, oneOf, quantity, retention, retentionOrEver, text, whole } from '../fields.ts'

/** Where the service keeps its data, and for how long. */
export const storageSettings = {
  dataDir: define(text.optional(), {
    help: 'folder of the store (default: $XDG_DATA_HOME/svc)',
    example: '/var/lib/svc',
    placeholder: 'dir',
  }),
  configDir: define(text.optional(), {
    help: 'folder of the token and the secret key (default: $XDG_CONFIG_HOME/svc)',
    example: '/etc/svc',
    placeholder: 'dir',
  }),
  secretKeyFile: define(text.optional(), {
    help: 'file of the key that encrypts secrets',
    example: '/etc/svc/secret-key',
    placeholder: 'file',
  }),
  bootstrapToken: define(z.string('must be text').min(16, 'must have at least 16 characters').optional(), {
    help: "the owner's token; generated and stored in the config folder when absent",
    secret: true,
  }),
  databaseUrl: define(
    text.regex(/^postgres(ql)?:\/\//, 'must be an address such as postgres://user:password@host:5432/svc').optional(),
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
