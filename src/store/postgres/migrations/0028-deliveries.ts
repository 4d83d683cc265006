// Deliveries of the code host's webhook. `due_at`: when a pending one is taken up, or, while a worker has it, taken away.
import type { Migration } from '../../database/migrations.ts'

export const deliveriesMigration: Migration = {
  number: 28,
  name: 'deliveries',
  statements: `
create table deliveries (
  id text collate "C" not null primary key,
  namespace text collate "C" not null,
  received_at text collate "C" not null,
  event text collate "C" not null,
  action text collate "C",
  repository text collate "C",
  number bigint,
  sender text collate "C",
  label text collate "C",
  happened_at text collate "C",
  state text collate "C" not null,
  outcome text collate "C" not null,
  facts text collate "C",
  attempts bigint not null,
  due_at text collate "C",
  worker text collate "C"
);
create index deliveries_by_time on deliveries (received_at, id);
create index deliveries_by_target on deliveries (repository, number, happened_at);
create index deliveries_due on deliveries (due_at) where due_at is not null;
`,
}
