// task tree and task plan: how far a task and those that it made are, drawn anew while they go on.
import type { Client } from '../../../client/client.ts'
import { readEvents } from '../../../client/event-stream.ts'
import type { PlanRecord, PlanVersion, TimelineEvent } from '../../../contract/api/tasks/task-records.ts'
import { getTask, getTaskEvents, getTaskPlan, listTaskPlans } from '../../../contract/api/tasks/tasks.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import type { TaskTarget } from '../../files/artifact-files.ts'
import { createTreeUsage, type TreeUsage, watchTree } from '../../follow/tree-watch.ts'
import { printAnswer } from '../../output/answers.ts'
import { type ListCommand, showList } from '../../output/list-command.ts'
import { formatAge, formatTable } from '../../output/output.ts'
import { describeTotal, type TreeRow, treeColumns } from '../../output/task-table.ts'
import type { Block } from '../../output/terminal.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

/** At most so often the tree is drawn; times go on in between. */
const drawEveryMs = 200
const tickEveryMs = 1000

export function addTaskTreeCommand(add: AddTaskCommand): void {
  add('tree <name>', 'a task and all tasks that it made, with phases, times, tokens and cost', showTree).option(
    '--once',
    'print it as it is now; without this it is drawn anew on a terminal until all have ended',
  )
}

async function showTree(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags } = call
  const root = await client.call(getTask, taskTargetOf(name, options))
  const usage = createTreeUsage(client, root, context.now)
  const isLive = options.output === 'table' && flags.once !== true
  const block = isLive ? context.terminal.block() : undefined
  if (block === undefined) return await printOnce(call, root, usage)
  await context.interruptible((signal) => followTree(client, { root, usage, block, context, signal }))
}

/** The table of the tree, and below it what all of it is together. */
export function listTreeLines(rows: TreeRow[], usage: TreeUsage, context: CliContext): string[] {
  const table = formatTable(rows, treeColumns(context.now(), usage.find), context.terminal.width)
  return [...table.split('\n'), ...(rows.length > 1 ? [describeTotal(rows, usage.find)] : [])]
}

async function printOnce({ client, options, context }: TaskCall, root: Task, usage: TreeUsage): Promise<void> {
  const stop = new AbortController()
  for await (const rows of watchTree(client, root, stop.signal)) {
    await usage.refresh(rows)
    const items = rows.map(({ task }) => task)
    await printAnswer(context, options, { items }, () => listTreeLines(rows, usage, context).join('\n'))
    break
  }
  stop.abort()
}

type Following = { root: Task; usage: TreeUsage; block: Block; context: CliContext; signal: AbortSignal }

async function followTree(client: Client, { root, usage, block, context, signal }: Following): Promise<void> {
  let rows: TreeRow[] = []
  let drawnAt = 0
  let isNew = false
  const draw = () => {
    const idle = Date.now() - drawnAt
    if (rows.length === 0 || (!isNew && idle < tickEveryMs)) return
    drawnAt = Date.now()
    isNew = false
    block.draw(listTreeLines(rows, usage, context))
  }
  const timer = setInterval(() => {
    void usage.refresh(rows).then((changed) => {
      isNew ||= changed
    })
    draw()
  }, drawEveryMs)
  try {
    for await (rows of watchTree(client, root, signal)) isNew = true
  } finally {
    clearInterval(timer)
    if (rows.length > 0) block.end(listTreeLines(rows, usage, context))
  }
}

export function addTaskPlanCommand(add: AddTaskCommand): void {
  add('plan <name>', 'its working plan', showPlan)
    .option('-f, --follow', 'keep printing what changes until the task ends')
    .option('--history', 'every plan that it saved, newest first')
}

async function showPlan(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags } = call
  const target = taskTargetOf(name, options)
  if (flags.history) return showList(history, { ...call, args: [name] }, client)
  if (flags.follow) return followPlan(call, target)
  const plan = await client.call(getTaskPlan, target)
  await printAnswer(context, options, plan, () => formatPlan(plan))
}

const history: ListCommand<PlanVersion> = {
  route: listTaskPlans,
  pages: 'all',
  parameter: 'id',
  columns: (now) => [
    { title: 'NUMBER', value: (plan) => plan.Number },
    { title: 'AGE', value: (plan) => formatAge(plan.SavedAt, now) },
    { title: 'ITERATION', value: (plan) => plan.Iteration },
    { title: 'PROGRESS', value: (plan) => `${plan.ProgressPct} %` },
    { title: 'SUMMARY', value: (plan) => plan.Summary.replace(/\s+/g, ' ') },
  ],
  empty: (_scope, { args: [name] }) => `${name} has saved no plan`,
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

/** Progress and summary in one line. */
function describePlan({ ProgressPct, GoalComplete, Iteration, Summary }: PlanRecord): string {
  const where = Iteration > 0 ? `, iteration ${Iteration}` : ''
  const goal = GoalComplete ? ', goal complete' : ''
  return `${ProgressPct} %${where}${goal}: ${Summary.replace(/\s+/g, ' ').trim()}`
}

export function formatPlan(plan: PlanRecord): string {
  const document = plan.PlanDocument.trimEnd()
  return document === '' ? describePlan(plan) : `${describePlan(plan)}\n\n${document}`
}

/** Lines that the document has more often than the one before, blank ones left out. */
function listNewLines(before: string, after: string): string[] {
  const counts = new Map<string, number>()
  for (const line of before.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1)
  return after.split('\n').filter((line) => {
    const left = counts.get(line) ?? 0
    counts.set(line, left - 1)
    return left <= 0 && line.trim() !== ''
  })
}

/** Progress and summary, and the lines that are new; undefined when nothing has changed. */
export function formatPlanChange(before: PlanRecord, after: PlanRecord): string | undefined {
  const lines = listNewLines(before.PlanDocument, after.PlanDocument)
  const isSame = describePlan(before) === describePlan(after) && before.PlanDocument === after.PlanDocument
  if (isSame) return undefined
  const isShorter = lines.length === 0 && before.PlanDocument !== after.PlanDocument
  return [describePlan(after), ...lines, ...(isShorter ? ['(lines were removed)'] : [])].join('\n')
}
