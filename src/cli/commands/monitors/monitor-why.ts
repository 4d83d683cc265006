// monitor why: asks for what a monitor knows of a pull request, and explains it in a few sentences.
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import type {
  MonitorEvent,
  MonitorItem,
  MonitorReviewRecord,
  MonitorRun,
} from '../../../contract/api/monitors/monitor-records.ts'
import {
  getMonitor,
  listMonitorEvents,
  listMonitorItems,
  listMonitorReviews,
  listMonitorRuns,
  listMonitors,
} from '../../../contract/api/monitors/monitors.ts'
import type { RepositoryMonitor } from '../../../contract/kinds/monitors/repository-monitor.ts'
import { SvcError } from '../../../errors.ts'
import type { CliCall } from '../../context.ts'
import { namespaceQuery } from '../../global-options.ts'
import { explain, type Story } from '../../monitors/explain.ts'
import { describeScope, printAnswer } from '../../output/answers.ts'
import { listPages } from '../../output/paging.ts'

type PullRequest = { number: number; repository?: string }
type Scope = { namespace?: string }

/** `42`, `#42` or the address of the page. InvalidRequest for anything else. */
export function readPullRequest(text: string): PullRequest {
  const [, page, digits = ''] =
    /^(?:https:\/\/[^/]+\/([^/]+\/[^/]+)\/pull\/|#?)([1-9]\d{0,9})(?:[/?#].*)?$/.exec(text) ?? []
  if (digits === '') {
    throw new SvcError(
      'InvalidRequest',
      `\`${text}\` is not a pull request: give its number, or the address of its page`,
    )
  }
  return { number: Number(digits), ...(page && { repository: page.toLowerCase() }) }
}

function isOf(repository: string | undefined, { spec }: RepositoryMonitor): boolean {
  return repository === undefined || `${spec.owner}/${spec.repository}`.toLowerCase() === repository
}

type WhyRequest = { pullRequest: PullRequest; name: string | undefined }

async function findMonitors(
  client: Client,
  { pullRequest, name }: WhyRequest,
  query: Scope,
): Promise<RepositoryMonitor[]> {
  if (name !== undefined) return [await client.call(getMonitor, { params: { name }, query })]
  const { items } = await listPages<RepositoryMonitor>(client, listMonitors, { query })
  return items.filter((monitor) => isOf(pullRequest.repository, monitor))
}

/** Events without a pull request tell why one that was asked for by number is none that the monitor looks at. */
async function readEvents(client: Client, query: Scope & { name: string }, number: number, isKnown: boolean) {
  const filter = isKnown ? { itemNumber: number } : { eventType: 'inventory_skipped' }
  const { items } = await listPages<MonitorEvent>(client, listMonitorEvents, {
    query: { ...query, ...filter },
    limit: 50,
  })
  return isKnown ? items : items.filter(({ metadata }) => metadata?.number === number)
}

/** The last one that was asked to look at this pull request. */
async function findRun(client: Client, of: { params: { name: string }; query: Scope }, number: number) {
  const { items } = await listPages<MonitorRun>(client, listMonitorRuns, { ...of, limit: 50 })
  return items.find(({ targetNumber }) => targetNumber === number)
}

export async function readStory(
  client: Client,
  monitor: RepositoryMonitor,
  number: number,
  query: Scope,
): Promise<Story> {
  const { name } = monitor.metadata
  const of = { params: { name }, query: { ...query, number }, limit: 1 }
  const { items } = await listPages<MonitorItem>(client, listMonitorItems, of)
  const { items: reviews } = await listPages<MonitorReviewRecord>(client, listMonitorReviews, of)
  const events = await readEvents(client, { ...query, name }, number, items.length > 0)
  const run = items.length > 0 ? undefined : await findRun(client, { params: { name }, query }, number)
  return { monitor, number, item: items[0], review: reviews[0], events, run }
}

type Wanted = { pr: string; name: string | undefined }

/** What each monitor that may be meant says of the pull request. */
export async function explainPullRequest({ pr, name }: Wanted, { options, context }: CliCall): Promise<void> {
  const pullRequest = readPullRequest(pr)
  const query = namespaceQuery(options)
  const client = await context.connect(options)
  const monitors = await findMonitors(client, { pullRequest, name }, query)
  if (monitors.length === 0) {
    const of = pullRequest.repository === undefined ? '' : ` of ${pullRequest.repository}`
    const hint = `\`${commandHint('monitor create NAME --repo URL --reviewer AGENT')}\` creates one`
    throw new SvcError('NotFound', `there is no monitor${of}${describeScope(options)}; ${hint}`)
  }
  const stories: Story[] = []
  for (const monitor of monitors) stories.push(await readStory(client, monitor, pullRequest.number, query))
  const explanations = stories.map((story) => ({ monitor: story.monitor.metadata.name, ...explain(story) }))
  await printAnswer(context, options, explanations, () =>
    explanations
      .map(({ monitor, what, todo }) => {
        const lines = [what, ...(todo === undefined ? [] : [`What to do: ${todo}`])].join('\n')
        return explanations.length === 1 ? lines : `${monitor}: ${lines}`
      })
      .join('\n\n'),
  )
}
