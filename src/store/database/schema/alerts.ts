// Alerts, each raised once, and their delivery.

export const alertTables = `
create table alerts (
  id text primary key,
  facts text not null,
  created_at text not null,
  delivery text not null,
  attempts bigint not null,
  due_at text,
  worker text,
  last_error text
) without rowid;
create index alerts_by_age on alerts (created_at);
create index alerts_due on alerts (due_at) where due_at is not null;
`
