// audit: who did what, and who was refused what, newest first.
import { type Command, Option } from 'commander'
import { type AuditItem, listAudit } from '../../../contract/api/identity/audit.ts'
import type { CliContext } from '../../context.ts'
import { readSince } from '../../global-options.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

type AuditOptions = {
  caller?: string
  kind?: string
  verb?: string
  refused?: boolean
  since?: string
  until?: string
}

const records: ListCommand<AuditItem, AuditOptions> = {
  route: listAudit,
  pages: 'all',
  filters: ({ caller, kind, verb, refused, since, until }, { context }) => ({
    caller,
    kind,
    verb,
    ...(refused && { allowed: 'false' }),
    since: readSince('--since', since, context.now()),
    until: readSince('--until', until, context.now()),
  }),
  columns: (now) => [
    { title: 'AGE', value: ({ createdAt }) => formatAge(createdAt, now) },
    { title: 'WHO', value: ({ caller }) => caller?.name ?? 'nobody known' },
    { title: 'VIA', value: ({ via }) => via },
    { title: 'VERB', value: ({ verb }) => verb },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAMESPACE', value: ({ namespace }) => namespace },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ALLOWED', value: ({ allowed }) => (allowed ? 'yes' : 'no') },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'FROM', value: ({ address, session }) => session ?? address },
  ],
  empty: () => 'no records',
}

export function addAuditCommand(program: Command, context: CliContext): void {
  const audit = program
    .command('audit')
    .description('who did what, and who was refused what, newest first; for owners')
    .option('--caller <id>', 'only what this caller did, by its id')
    .option('--kind <kind>', 'only of this kind, such as Task')
    .option('--verb <verb>', 'only this verb: create, update, delete, get, list, use')
    .option('--refused', 'only what was refused')
    .option('--since <time>', 'from then on: 7d, 12h, or a time (2026-01-31T00:00:00Z)')
    .option('--until <time>', 'up to then')
    .addOption(new Option('--limit <count>', 'at most so many').default('50'))
  addList(audit, context, records)
}
