// How the calls of each provider went of late.
import type { Migration } from '../../database/migrations.ts'

export const providerHealthMigration: Migration = {
  number: 7,
  name: 'provider health',
  statements: `
create table provider_health (
  namespace text not null,
  name text not null,
  good_at integer,
  failed_at integer,
  reason text,
  failures integer not null,
  primary key (namespace, name)
) without rowid;
`,
}
