// Pauses of providers and of their models: what vendors limit by itself rests by itself.
import type { Migration } from '../../database/migrations.ts'

export const coolDownsMigration: Migration = {
  number: 12,
  name: 'cool-downs',
  statements: `
create table cool_downs (
  namespace text not null,
  name text not null,
  model text not null,
  until integer not null,
  reason text not null,
  failure text not null,
  asked integer not null,
  primary key (namespace, name, model)
) without rowid;
alter table rate_limits drop column cool_until;
alter table rate_limits drop column cool_reason;
`,
}
