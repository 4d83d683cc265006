// webhook: what the code host has delivered, what came of it, and working it off again.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  type DeliveryItem,
  deliveryStates,
  getDelivery,
  listDeliveries,
  redeliver,
} from '../../../contract/api/codehost/deliveries.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

type ListOptions = { repository?: string; number?: string; event?: string; state?: string }

export function addWebhookCommands(program: Command, context: CliContext): void {
  const webhook = program.command('webhook').description('what the code host has delivered')
  const list = webhook
    .command('deliveries')
    .alias('list')
    .alias('ls')
    .description('deliveries, newest first, with what each led to or why nothing happened')
    .option('--repository <owner/name>', 'only of this repository')
    .option('--number <number>', 'only of this issue or pull request')
    .option('--event <name>', 'only of this event, such as pull_request')
    .addOption(new Option('--state <state>', 'only those that are so far').choices(deliveryStates))
    .addOption(new Option('--limit <count>', 'at most so many').default('20'))
  addList(list, context, deliveries)
  webhook
    .command('get <id>')
    .description('one delivery: what came, and what it led to')
    .action(callService(context, showBy(getDelivery)))
  webhook
    .command('redeliver <id>')
    .description('work off a delivery again; what it has led to already is not made twice')
    .action(callService(context, showBy(redeliver)))
}

function nameTarget({ repository, number }: DeliveryItem): string | undefined {
  return number === undefined ? repository : `${repository}#${number}`
}

function nameEvent({ event, action }: DeliveryItem): string {
  return action === undefined ? event : `${event}.${action}`
}

const deliveries: ListCommand<DeliveryItem, ListOptions> = {
  route: listDeliveries,
  pages: 'all',
  filters: ({ repository, number, event, state }) => ({ repository, number, event, state }),
  columns: (now) => [
    { title: 'AGE', value: ({ receivedAt }) => formatAge(receivedAt, now) },
    { title: 'ID', value: ({ id }) => id },
    { title: 'EVENT', value: nameEvent },
    { title: 'TARGET', value: nameTarget },
    { title: 'BY', value: ({ sender }) => sender },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'OUTCOME', value: ({ outcome }) => outcome.message },
  ],
  empty: () => 'no deliveries: is the webhook of the code host set to this service, and can it reach it?',
}

function describe(item: DeliveryItem): string {
  const { outcome, receivedAt, sender, state, attempts, dueAt } = item
  const lines = [
    `${nameEvent(item)} of ${nameTarget(item) ?? 'no repository'}${sender === undefined ? '' : ` by ${sender}`}, at ${receivedAt}`,
    `${state}: ${outcome.message}`,
    ...(attempts > 1 ? [`taken up ${attempts} times`] : []),
    ...(dueAt === undefined ? [] : [`is taken up again at ${dueAt}`]),
    ...(outcome.taskName === undefined ? [] : [`task: ${outcome.namespace}/${outcome.taskName}`]),
    ...(outcome.cancelledTasks?.length ? [`cancelled: ${outcome.cancelledTasks.join(', ')}`] : []),
    ...(outcome.cancelledRuns?.length ? [`withdrawn: ${outcome.cancelledRuns.join(', ')}`] : []),
    ...(outcome.runIDs?.length ? [`runs: ${outcome.runIDs.join(', ')}`] : []),
    ...(state === 'failed' ? [`once that is changed: ${commandHint(`webhook redeliver ${item.id}`)}`] : []),
  ]
  return lines.join('\n')
}

function showBy(route: typeof getDelivery | typeof redeliver) {
  return async ({ client, options, context, query }: ServiceCall, id: string): Promise<void> => {
    const item = await client.call(route, { params: { id }, query })
    await printAnswer(context, options, item, () => describe(item))
  }
}
