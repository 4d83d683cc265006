// Sums of usage over a million records of one month: what the page of costs asks for, beside a bare sum over the same rows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { usageGroups } from '../src/contract/api/budgets/usage.ts'
import { createUsage } from '../src/store/budgets/usage.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'

const count = Number(process.env.BENCH_USAGE_RECORDS ?? 1_000_000)
const rounds = 3

/** 80 agents, 20 callers, 8 models, 5000 tasks; a label on every fourth record. */
const fill = `
with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
insert into usage_records (id, namespace, provider, model, task_uid, task_name, agent, caller, caller_kind, caller_id,
  input_tokens, output_tokens, cached_tokens, cost_nanos, currency, demo, created_at)
select 'use-' || printf('%09d', i), 'team-' || (i % 5), 'main', 'model-' || (i % 8), 'u' || (i % 5000), 'task-' || (i % 5000), 'agent-' || (i % 80),
  'ada', 'token', 'tok-' || (i % 20), 1000 + i % 500, 100 + i % 50, 10, 1000000 + i, 'USD', 0,
  strftime('%Y-%m-%dT%H:%M:%fZ', 1777593600 + i * 2.5, 'unixepoch') from n;
insert into usage_attributes (usage_id, name, value)
select id, 'label:team', 'team-' || (rowid_of % 12) from
  (select id, cast(substr(id, 5) as integer) as rowid_of from usage_records) where rowid_of % 4 = 0;
`

async function measure(work: () => Promise<unknown> | unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return Math.round(Math.min(...times))
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-usage-'))
  const path = join(folder, 'svc.db')
  try {
    const database = openSqlite({ path })
    const bare = new Sqlite(path)
    bare.exec(fill)
    bare.exec('analyze')
    const usage = createUsage({ database, clock: { now: () => new Date() } })
    const since = new Date('2026-05-01T00:00:00Z')
    const floor = 'select count(*), sum(input_tokens) from usage_records where created_at >= ?'
    console.log(`| sum of ${count} records | ms |\n| --- | --- |`)
    console.log(`| floor: bare count and sum | ${await measure(() => bare.prepare(floor).get(since.toISOString()))} |`)
    for (const groupBy of usageGroups) {
      const query = { groupBy, since, label: 'team' }
      console.log(`| by ${groupBy} | ${await measure(() => usage.sum(query))} |`)
    }
    console.log(`| by agent, per day | ${await measure(() => usage.sum({ groupBy: 'agent', per: 'day', since }))} |`)
    const day = new Date(Date.parse('2026-05-20T00:00:00Z'))
    console.log(
      `| by agent, one day | ${await measure(() => usage.sum({ groupBy: 'agent', since: day, until: new Date(day.getTime() + 86_400_000) }))} |`,
    )
    const plan = bare.prepare(
      'explain query plan select sum(input_tokens) from usage_records where created_at >= ? and created_at < ?',
    )
    console.log(
      JSON.stringify(plan.all(day.toISOString(), '2026-05-21').map((row) => (row as { detail: string }).detail)),
    )
    bare.close()
    await database.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
