// Families go by uid: messages between tasks. Resources are the cluster's.
// Messages from before keep their names alone; they are read by them, and go with their age.
import type { Migration } from '../../database/migrations.ts'

export const familiesMigration: Migration = {
  number: 10,
  name: 'families',
  statements: `
alter table messages add column parent_uid text collate "C";
alter table messages add column from_uid text collate "C";
alter table messages add column to_uid text collate "C";
create index messages_by_parent_uid on messages (parent_uid, id);
create index messages_by_sender_uid on messages (from_uid);
create index messages_by_receiver_uid on messages (to_uid);
create index messages_by_age on messages (created_at);
`,
}
