// What a run adds to its checkpoint between two whole states. A generation is one whole state and what was added to it.
import type { Migration } from '../../database/migrations.ts'

export const checkpointChangesMigration: Migration = {
  number: 13,
  name: 'checkpoint changes',
  statements: `
alter table checkpoints add column generation integer not null default 0;
alter table checkpoints add column changes integer not null default 0;
create table checkpoint_changes (
  task_uid text collate "C" not null,
  generation integer not null,
  number integer not null,
  change text collate "C" not null,
  primary key (task_uid, generation, number)
);
`,
}
