// The text of a review as it is published. What a model wrote is data there: it mentions nobody, is no command, and hides nothing.
import type { MonitorFinding, MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'

export const longestBody = 60_000
const longestComment = 4000
const blank = '\u200b'

/**
 * Text that does nothing at the code host: no mention, no reference that shows elsewhere, no comment that hides, no command, no
 * image that is fetched, no suggestion that one click commits.
 */
export function neutralize(text: string): string {
  return text
    .replaceAll('@', `@${blank}`)
    .replace(/#(?=\d)/g, `#${blank}`)
    .replace(/\b(GH)-(?=\d)/gi, `$1${blank}-`)
    .replace(/(`{3}|~{3})(?=[ \t]*suggestion)/gi, `$1${blank}`)
    .replaceAll('<!--', `<${blank}!--`)
    .replaceAll('-->', `--${blank}>`)
    .replaceAll('![', `!${blank}[`)
    .replace(/<(?=[a-z/])/gi, `<${blank}`)
    .replace(/^(\s*)\//gm, `$1${blank}/`)
}

/** Between backticks, which nothing in it ends; before any free text of its line, where another backtick would open them. */
function code(text: string): string {
  const inner = text.replaceAll('`', "'").replaceAll('<!--', `<${blank}!--`)
  return `\`${inner.replace(/\s+/g, ' ').trim()}\``
}

/** One line of it. */
function line(text: string): string {
  return neutralize(text.replace(/\s+/g, ' ').trim())
}

const headings: Record<string, string> = {
  passed: 'No problems found',
  needs_changes: 'Changes needed',
  needs_human: 'A person should look at this',
  security_sensitive: 'This concerns security',
}

function writeFinding(finding: MonitorFinding): string {
  const { priority, file, line: number, title, body, recommendation } = finding
  const where = file === undefined ? '' : `${code(number === undefined ? file : `${file}:${number}`)} `
  const advice = recommendation === undefined ? [] : [`  Suggestion: ${line(recommendation)}`]
  return [`- **${priority}** ${where}${line(title)}`, `  ${line(body)}`, ...advice].join('\n')
}

function writeValidation({ status, commands }: MonitorReviewRecord['validation']): string[] {
  if (commands.length === 0) return []
  if (status === 'not_run') return ['**The checks could not be run at this commit**']
  const lines = commands.map(({ command, exitCode }) => {
    const end = exitCode === undefined ? 'did not end' : exitCode === 0 ? 'passed' : `failed with exit code ${exitCode}`
    return `- ${code(command)} ${end}`
  })
  return [`**Checks at this commit: ${status}**`, lines.join('\n')]
}

/** The hidden line by which a publishing is known again after a crash. */
export function writePublishMarker(parts: Record<string, string | number>): string {
  const words = Object.entries(parts).map(([key, value]) => `${key}=${String(value).replace(/[^\w./-]/g, '_')}`)
  return `<!-- svc:repo-monitor ${words.join(' ')} -->`
}

export type BodyParts = {
  review: MonitorReviewRecord
  /** New findings that are not comments at their line. */
  listed: readonly MonitorFinding[]
  /** How many findings were shown before and still hold. */
  repeated: number
  /** Of the service: the last lines of the text. */
  markers: readonly string[]
}

/** The body of a review; the markers come last and are the only hidden text in it. */
export function writeReviewBody({ review, listed, repeated, markers }: BodyParts): string {
  const { verdict, confidence = 'low', headSHA, summary, validation } = review
  const earlier = repeated === 0 ? [] : [`${repeated} of the findings of earlier reviews still hold.`]
  const parts = [
    `### ${headings[verdict] ?? verdict}`,
    `Verdict: \`${verdict}\` · confidence: ${confidence} · commit: \`${headSHA.slice(0, 8)}\``,
    neutralize(summary),
    ...(listed.length === 0 ? [] : [listed.map(writeFinding).join('\n')]),
    ...earlier,
    ...writeValidation(validation),
    markers.join('\n'),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The text of a comment at a line. */
export function writeInlineComment({ priority, title, body, recommendation }: MonitorFinding): string {
  const advice = recommendation === undefined ? '' : `\n\nSuggestion: ${neutralize(recommendation)}`
  return `**${priority}** ${line(title)}\n\n${neutralize(body)}${advice}`.slice(0, longestComment)
}
