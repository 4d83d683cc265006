// What agent programs keep of sessions themselves, and how many messages the session has when it is of use.
import type { Migration } from '../../database/migrations.ts'

export const programSessionsMigration: Migration = {
  number: 21,
  name: 'program-sessions',
  statements: `
create table session_programs (
  namespace text collate "C" not null,
  name text collate "C" not null,
  program text collate "C" not null,
  id text collate "C" not null,
  body text collate "C" not null,
  message_count bigint not null,
  primary key (namespace, name)
);
`,
}
