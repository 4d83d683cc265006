// budget: how much a token, a caller, an agent, a namespace or the whole service may use.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  type BudgetItem,
  type BudgetSpec,
  budgetPeriods,
  deleteBudget,
  listBudgets,
  putBudget,
} from '../../../contract/api/budgets/budgets.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { readCountFlag } from '../../global-options.ts'
import { tryReadTokens } from '../../objects/task-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'

type SetOptions = {
  forToken?: string
  forCaller?: string
  forAgent?: string
  tokens?: string
  cost?: string
  currency?: string
  taskTime?: string
  taskIterations?: string
  per: BudgetSpec['period']
}

export function addBudgetCommands(program: Command, context: CliContext): void {
  const budget = program.command('budget').description('how much may be used, and by whom; for owners')
  budget
    .command('set <name>')
    .description('create or replace a budget')
    .option('--tokens <count>', 'most tokens in and out, such as 500k or 2M')
    .option('--cost <amount>', 'most money, by the prices of the providers')
    .option('--currency <code>', 'of --cost (default: USD)')
    .option('--task-time <duration>', 'longest time of each task, such as 24h')
    .option('--task-iterations <count>', 'most iterations of each task of an autonomous agent')
    .addOption(new Option('--per <period>', 'when it resets, in UTC').choices(budgetPeriods).default('month'))
    .option('--for-token <id>', `what this token and its tasks use (${commandHint('token list')})`)
    .option('--for-caller <id>', `what this caller and its tasks use (${commandHint('usage --by caller')})`)
    .option('--for-agent <name>', 'what this agent uses; with --namespace')
    .addHelpText(
      'after',
      `
With --namespace it is for what is used there; without any, for the whole service. Who has used it up is refused, with the
reason, in chat, tasks and proxies.

  ${commandHint('-n team budget set team --tokens 5M --per day')}
  ${commandHint('budget set ci --for-token tok-0123 --cost 20 --per month')}`,
    )
    .action(callService(context, setBudget))
  const list = budget.command('list').alias('ls').description('budgets, and how much of each is spent')
  addList(list, context, budgets)
  budget
    .command('delete <name>')
    .alias('rm')
    .description('remove a budget')
    .action(
      callService(context, async ({ client }, name: string) => {
        await client.call(deleteBudget, { params: { name } })
        context.terminal.note(`budget ${name} deleted`)
      }),
    )
}

function readTokens(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const tokens = tryReadTokens(text)
  if (tokens !== undefined) return tokens
  throw new SvcError('InvalidRequest', `--tokens ${text}: must be a number, such as 500k or 2M`)
}

function readMoney(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const amount = Number(text)
  if (text.trim() !== '' && Number.isFinite(amount)) return amount
  throw new SvcError('InvalidRequest', `--cost ${text}: must be an amount, such as 20 or 0.5`)
}

async function setBudget({ client, options, context }: ServiceCall, name: string, flags: SetOptions): Promise<void> {
  const { forToken: token, forCaller: caller, forAgent: agent, tokens, cost, currency, per: period } = flags
  const scope = dropUndefined({ namespace: options.namespace, agent, token, caller })
  const { taskTime: maxTaskDuration, taskIterations } = flags
  const maxTaskIterations =
    taskIterations === undefined ? undefined : readCountFlag('--task-iterations', taskIterations)
  const perTask = { maxTaskDuration, maxTaskIterations }
  const limits = { maxTokens: readTokens(tokens), maxCost: readMoney(cost), currency, ...perTask }
  const made = await client.call(putBudget, { params: { name }, body: { scope, period, ...dropUndefined(limits) } })
  await printAnswer(
    context,
    options,
    made,
    () => `budget ${name} set: ${describeMost(made)}, ${describeSpent(made)} spent`,
  )
}

function joinLimits(parts: (string | false)[], each: string): string[] {
  const limits = parts.filter((part) => part !== false)
  return limits.length === 0 ? [] : [limits.join(' or ') + each]
}

function describeMost({ spec }: BudgetItem): string {
  const { maxTokens, maxCost, currency, period, maxTaskDuration, maxTaskIterations } = spec
  const all = [maxTokens !== undefined && `${maxTokens} tokens`, maxCost !== undefined && `${maxCost} ${currency}`]
  const each = [
    maxTaskDuration !== undefined && maxTaskDuration,
    maxTaskIterations !== undefined && `${maxTaskIterations} iterations`,
  ]
  return [...joinLimits(all, period === 'total' ? '' : ` a ${period}`), ...joinLimits(each, ' a task')].join(', ')
}

function describeSpent({ spec, spent }: BudgetItem): string {
  const money = spec.maxCost === undefined ? '' : `, ${Number(spent.cost.toFixed(4))} ${spec.currency}`
  return `${spent.tokens} tokens${money}`
}

function describeScope({ spec: { scope } }: BudgetItem): string {
  const parts = Object.entries(scope).map(([what, which]) => `${what} ${which}`)
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

const budgets: ListCommand<BudgetItem> = {
  route: listBudgets,
  isGlobal: true,
  columns: () => [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'FOR', value: describeScope },
    { title: 'MOST', value: describeMost },
    { title: 'SPENT', value: describeSpent },
    {
      title: 'UNPRICED',
      value: ({ spec, spent }) => (spec.maxCost === undefined ? undefined : spent.unpricedCalls || undefined),
    },
    { title: 'STATE', value: ({ usedUp }) => (usedUp ? 'used up' : 'open') },
  ],
  empty: () => `no budgets; \`${commandHint('budget set NAME --tokens 5M --per day')}\` creates one`,
}
