// What agent programs keep of sessions themselves, and how many messages the session has when it is of use.
import type { Migration } from '../../database/migrations.ts'

export const programSessionsMigration: Migration = {
  number: 21,
  name: 'program-sessions',
  statements: `
create table session_programs (
  namespace text not null,
  name text not null,
  program text not null,
  id text not null,
  body text not null,
  message_count integer not null,
  primary key (namespace, name)
);
`,
}
