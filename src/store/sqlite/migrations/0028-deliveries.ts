// Deliveries of the code host's webhook. `due_at`: when a pending one is taken up, or, while a worker has it, taken away.
import type { Migration } from '../../database/migrations.ts'

export const deliveriesMigration: Migration = {
  number: 28,
  name: 'deliveries',
  statements: `
create table deliveries (
  id text not null primary key,
  namespace text not null,
  received_at text not null,
  event text not null,
  action text,
  repository text,
  number integer,
  sender text,
  label text,
  happened_at text,
  state text not null,
  outcome text not null,
  facts text,
  attempts integer not null,
  due_at text,
  worker text
);
create index deliveries_by_time on deliveries (received_at, id);
create index deliveries_by_target on deliveries (repository, number, happened_at);
create index deliveries_due on deliveries (due_at) where due_at is not null;
`,
}
