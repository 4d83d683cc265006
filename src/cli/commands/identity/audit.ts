// audit: who did what, and who was refused what, newest first.
import { type Command, Option } from 'commander'
import { type AuditItem, listAudit } from '../../../contract/api/identity/audit.ts'
import type { CliContext } from '../../context.ts'
import { namespaceOf, readCount, readGlobalOptions } from '../../global-options.ts'
import { readSince } from '../../objects/since.ts'
import { printList } from '../../output/answers.ts'
import { type Column, formatAge } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

type AuditOptions = {
  caller?: string
  kind?: string
  verb?: string
  refused?: boolean
  since?: string
  until?: string
  limit: string
}

export function addAuditCommand(program: Command, context: CliContext): void {
  program
    .command('audit')
    .description('who did what, and who was refused what, newest first; for owners')
    .option('--caller <id>', 'only what this caller did, by its id')
    .option('--kind <kind>', 'only of this kind, such as Task')
    .option('--verb <verb>', 'only this verb: create, update, delete, get, list, use')
    .option('--refused', 'only what was refused')
    .option('--since <time>', 'from then on: 7d, 12h, or a time (2026-01-31T00:00:00Z)')
    .option('--until <time>', 'up to then')
    .addOption(new Option('--limit <count>', 'at most so many').default('50'))
    .action((given: AuditOptions, command: Command) => showAudit(given, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

const columns = (now: Date): Column<AuditItem>[] => [
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
]

async function showAudit(given: AuditOptions, { command, context }: Invocation): Promise<void> {
  const { caller, kind, verb, refused, since, until, limit } = given
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const now = context.now()
  const query = {
    ...namespaceOf(options),
    caller,
    kind,
    verb,
    ...(refused && { allowed: 'false' }),
    since: readSince('--since', since, now),
    until: readSince('--until', until, now),
  }
  const { items } = await listPages<AuditItem>(client, listAudit, { query, limit: readCount('--limit', limit) })
  await printList(context, options, { items, columns: columns(now), empty: 'no records' })
}
