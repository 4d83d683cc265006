// task plan: the working plan of a task, as it is or as it changes.
import { readEvents } from '../../../client/event-stream.ts'
import type { PlanRecord, PlanVersion, TimelineEvent } from '../../../contract/api/tasks/task-records.ts'
import { getTaskEvents, getTaskPlan, listTaskPlans } from '../../../contract/api/tasks/tasks.ts'
import { isSvcError } from '../../../errors.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import type { TaskTarget } from '../../files/artifact-files.ts'
import { printAnswer, printList } from '../../output/answers.ts'
import { formatAge } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'
import { formatPlan, formatPlanChange } from '../../output/plan-text.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

export function addTaskPlanCommand(add: AddTaskCommand): void {
  add('plan <name>', 'its working plan', showPlan)
    .option('-f, --follow', 'keep printing what changes until the task ends')
    .option('--history', 'every plan that it saved, newest first')
}

async function showPlan(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, given } = call
  const target = targetOf(name, options)
  if (given.history) return showHistory(call, target)
  if (given.follow) return followPlan(call, target)
  const plan = await client.call(getTaskPlan, target)
  await printAnswer(context, options, plan, () => formatPlan(plan))
}

async function showHistory({ client, options, context }: TaskCall, { params, query }: TaskTarget): Promise<void> {
  const { items } = await listPages<PlanVersion>(client, listTaskPlans, { params, query })
  await printList(context, options, {
    items,
    columns: [
      { title: 'NUMBER', value: (plan) => plan.Number },
      { title: 'AGE', value: (plan) => formatAge(plan.SavedAt, context.now()) },
      { title: 'ITERATION', value: (plan) => plan.Iteration },
      { title: 'PROGRESS', value: (plan) => `${plan.ProgressPct} %` },
      { title: 'SUMMARY', value: (plan) => plan.Summary.replace(/\s+/g, ' ') },
    ],
    empty: `${params.id} has saved no plan`,
  })
}

/** Undefined while the task has saved none. */
async function readPlan({ client }: TaskCall, target: TaskTarget): Promise<PlanRecord | undefined> {
  try {
    return await client.call(getTaskPlan, target)
  } catch (error) {
    if (isSvcError(error, 'NotFound') && error.message.includes('no plan')) return undefined
    throw error
  }
}

/** As a table, text for people; else each plan as a line of JSON. */
function createPrinter({ context, options }: TaskCall) {
  let shown: PlanRecord | undefined
  const describe = (plan: PlanRecord) => (shown === undefined ? formatPlan(plan) : formatPlanChange(shown, plan))
  return {
    shownAt: () => shown?.UpdatedAt ?? '',
    print(plan: PlanRecord): void {
      const change = describe(plan)
      if (change === undefined) return
      if (options.output !== 'table') context.terminal.print(JSON.stringify(plan))
      else context.terminal.print(shown === undefined ? change : `\n${change}`)
      shown = plan
    },
  }
}

/** The timeline says when a plan was saved; it ends with the task. */
async function followPlan(call: TaskCall, target: TaskTarget): Promise<void> {
  const { print, shownAt } = createPrinter(call)
  const show = async () => {
    const plan = await readPlan(call, target)
    if (plan !== undefined) print(plan)
    return plan
  }
  if ((await show()) === undefined) call.context.terminal.note(`${target.params.id} has saved no plan yet`)
  const done = await call.context.interruptible(async (signal) => {
    const input = { params: target.params, query: { ...target.query, follow: true }, signal }
    for await (const { data } of readEvents(call.client, getTaskEvents, input)) {
      const { type, createdAt } = JSON.parse(data) as TimelineEvent
      if (type === 'PlanSaved' && createdAt > shownAt()) await show()
    }
    await show()
    return true
  })
  if (!done) throw new ExitSignal(exitCodes.interrupted)
}
