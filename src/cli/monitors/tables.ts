// How runs, pull requests, events and reviews of monitors look.
import type {
  MonitorEvent,
  MonitorItem,
  MonitorReviewRecord,
  MonitorRun,
} from '../../contract/api/monitors/monitor-records.ts'
import { type Column, formatAge } from '../output/output.ts'

const shortSha = 10

function nameTarget({ targetNumber, targetSHA }: MonitorRun): string {
  if (targetNumber === undefined) return 'all'
  return targetSHA === undefined ? `#${targetNumber}` : `#${targetNumber} at ${targetSHA.slice(0, shortSha)}`
}

/** What it waits for, or why it failed. */
function noteOf({ error, heldUpUntil }: MonitorRun): string | undefined {
  return error ?? (heldUpUntil === undefined ? undefined : `held up until ${heldUpUntil}`)
}

export const runColumns = (now: Date): Column<MonitorRun>[] => [
  { title: 'AGE', value: ({ queuedAt }) => formatAge(queuedAt, now) },
  { title: 'ID', value: ({ id }) => id },
  { title: 'TRIGGER', value: ({ trigger }) => trigger },
  { title: 'TARGET', value: nameTarget },
  { title: 'PHASE', value: ({ phase }) => phase },
  { title: 'SELECTED', value: ({ selectedCount }) => selectedCount },
  { title: 'SKIPPED', value: ({ skippedCount }) => skippedCount },
  { title: 'NOTE', value: noteOf },
]

export const itemColumns = (now: Date): Column<MonitorItem>[] => [
  { title: 'PR', value: ({ number }) => number },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'VERDICT', value: ({ lastVerdict }) => lastVerdict },
  { title: 'SKIPPED', value: ({ skipReason }) => skipReason },
  { title: 'PUBLISHED', value: ({ lastPublishPhase, lastPublishReason }) => lastPublishReason ?? lastPublishPhase },
  { title: 'HEAD', value: ({ headSHA }) => headSHA?.slice(0, shortSha) },
  { title: 'CHANGED', value: ({ updatedAt }) => formatAge(updatedAt, now) },
  { title: 'AUTHOR', value: ({ author }) => author },
  { title: 'URL', wide: true, value: ({ url }) => url },
  { title: 'TITLE', value: ({ title }) => title },
]

export const eventColumns = (now: Date): Column<MonitorEvent>[] => [
  { title: 'AGE', value: ({ createdAt }) => formatAge(createdAt, now) },
  { title: 'PR', value: ({ itemNumber }) => itemNumber },
  { title: 'EVENT', value: ({ eventType }) => eventType },
  { title: 'BY', value: ({ actor }) => actor },
  { title: 'RUN', wide: true, value: ({ runID }) => runID },
  { title: 'SUMMARY', value: ({ summary }) => summary },
]

type Finding = MonitorReviewRecord['findings'][number]

function formatFinding({ id, priority, file, line, title, body, recommendation, state }: Finding): string[] {
  const place = oneLine([file, line].filter((part) => part !== undefined).join(':'))
  return [
    `  ${priority} ${oneLine(title)}${place === '' ? '' : ` (${place})`}${state === 'new' ? '' : `, ${state}`}  ${id}`,
    ...[body, recommendation].flatMap((text) => (text ? [`     ${oneLine(text)}`] : [])),
  ]
}

function formatChecks({ status, reason, commands }: MonitorReviewRecord['validation']): string[] {
  if (commands.length === 0) return []
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`
  if (status === 'not_run') return [`the checks could not be run${why}`]
  const each = commands.map(({ command, exitCode }) => `check \`${oneLine(command)}\`: ${exitCode ?? 'did not end'}`)
  return commands.some(({ exitCode }) => exitCode === undefined) ? [...each, `the checks ended early${why}`] : each
}

/** One line, whatever a model or a repository wrote. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** A review for people: what it is about, what it says, and each finding. */
export function formatReview(review: MonitorReviewRecord): string {
  const { number, headSHA, verdict, reason, createdAt, summary, validation, findings, taskName } = review
  return [
    `#${number} at ${headSHA.slice(0, shortSha)}: ${verdict}${reason === undefined ? '' : ` (${reason})`}, ${createdAt}, task ${taskName}`,
    oneLine(summary),
    ...formatChecks(validation),
    ...findings.flatMap(formatFinding),
  ].join('\n')
}
