// Every plan that a task saved, numbered from 1; the plan itself stays where it is.
import type { Migration } from '../../database/migrations.ts'

export const planVersionsMigration: Migration = {
  number: 24,
  name: 'plan versions',
  statements: `
create table plan_versions (
  task_uid text collate "C" not null,
  number integer not null,
  iteration integer not null,
  summary text collate "C" not null,
  progress_pct integer not null,
  goal_complete integer not null,
  plan_document text collate "C" not null,
  saved_at text collate "C" not null,
  primary key (task_uid, number)
);
insert into plan_versions (task_uid, number, iteration, summary, progress_pct, goal_complete, plan_document, saved_at)
  select task_uid, 1, iteration, summary, progress_pct, goal_complete, plan_document, updated_at from plans;
`,
}
