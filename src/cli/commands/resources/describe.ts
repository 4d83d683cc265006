// describe: all about an object, for people: fields, conditions and the last events.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import type { TimelineEvent } from '../../../contract/api/tasks/task-records.ts'
import { getTaskEvents } from '../../../contract/api/tasks/tasks.ts'
import type { Condition } from '../../../contract/kinds/resources/metadata.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { type KindEntry, readTargets } from '../../objects/kinds.ts'
import { formatItems, printAnswer } from '../../output/answers.ts'
import { asList, type Column, formatAge, formatFields, formatLabels, formatYaml } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

const maxEvents = 10

type Keys = Record<string, string>
type Described = {
  metadata?: { name: string; namespace?: string; labels?: Keys; annotations?: Keys; creationTimestamp?: string }
  status?: { conditions?: Condition[] }
  [field: string]: unknown
}

export function addDescribeCommand(program: Command, context: CliContext): void {
  program
    .command('describe <kind> <names...>')
    .description('all about one of a kind, or several: fields, conditions and the last events')
    .action((kind: string, names: string[], _flags: unknown, command: Command) =>
      describe(readTargets(kind, names), { options: readGlobalOptions(command), context }),
    )
}

async function describe({ entry, targets }: ReturnType<typeof readTargets>, { options, context }: CliCall) {
  const client = await context.connect(options)
  const query = namespaceQuery(options)
  const objects: Described[] = []
  const texts: string[] = []
  for (const name of targets) {
    const object = (await client.call(entry.get, {
      params: { [entry.parameter]: name },
      query,
    })) as unknown as Described
    const events = entry.kind === 'Task' ? await readEvents(client, name, query) : []
    objects.push(object)
    texts.push(await formatObject(entry, object, { events, context }))
  }
  await printAnswer(context, options, objects.length === 1 ? objects[0] : asList(objects), () =>
    texts.join('\n\n---\n'),
  )
}

/** The last ones, oldest first. */
async function readEvents(client: Client, name: string, query: { namespace?: string }): Promise<TimelineEvent[]> {
  const options = { query, params: { id: name }, limit: maxEvents }
  return (await listPages<TimelineEvent>(client, getTaskEvents, options)).items.toReversed()
}

type Surroundings = { events: TimelineEvent[]; context: CliContext }

async function formatObject(entry: KindEntry, object: Described, { events, context }: Surroundings): Promise<string> {
  const { apiVersion: _version, kind: _kind, metadata, status, ...fields } = object
  const { conditions = [], ...state } = status ?? {}
  const now = context.now()
  const blocks = [
    formatFields([
      ['kind', entry.kind],
      ['name', metadata?.name],
      ['namespace', metadata?.namespace],
      ['labels', formatLabels(metadata?.labels)],
      ['annotations', formatLabels(metadata?.annotations)],
      ['created', metadata?.creationTimestamp],
      ['age', formatAge(metadata?.creationTimestamp, now)],
    ]),
    await formatYaml({ ...fields, ...(Object.keys(state).length > 0 && { status: state }) }),
    formatSection('conditions', conditions, conditionColumns(now), context),
    formatSection('last events', events, eventColumns(now), context),
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

function formatSection<T>(title: string, items: T[], columns: Column<T>[], { terminal }: CliContext): string {
  return items.length === 0 ? '' : `${title}:\n${formatItems(items, columns, { width: terminal.width })}`
}

const conditionColumns = (now: Date): Column<Condition>[] => [
  { title: 'TYPE', value: (condition) => condition.type },
  { title: 'STATUS', value: (condition) => condition.status },
  { title: 'REASON', value: (condition) => condition.reason },
  { title: 'SINCE', value: (condition) => formatAge(condition.lastTransitionTime, now) },
  { title: 'MESSAGE', value: (condition) => condition.message },
]

const eventColumns = (now: Date): Column<TimelineEvent>[] => [
  { title: 'AGE', value: (event) => formatAge(event.createdAt, now) },
  { title: 'ATTEMPT', value: (event) => event.attempt },
  { title: 'TYPE', value: (event) => event.type },
  { title: 'PHASE', value: (event) => event.phase },
  { title: 'MESSAGE', value: (event) => event.message },
]
