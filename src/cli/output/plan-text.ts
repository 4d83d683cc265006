// A plan as text for people, and what is new in one that replaced another.
import type { PlanRecord } from '../../contract/api/tasks/task-records.ts'

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
