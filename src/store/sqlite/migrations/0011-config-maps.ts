// Config maps of embedded mode, and until when a session is kept that an agent bounds.
import type { Migration } from '../../database/migrations.ts'

export const configMapsMigration: Migration = {
  number: 11,
  name: 'config maps',
  statements: `
create table config_maps (
  namespace text not null,
  name text not null,
  body text not null,
  version integer not null,
  created_at text not null,
  primary key (namespace, name)
) without rowid;
alter table sessions add column expires_at text;
`,
}
