// The one comment in which the service answers commands: found again by its first line, and safe to show whatever is in it.
import { neutralize, toProse } from './harmless-text.ts'

/** The first line of the comment; invisible to readers. */
const marker = '<!-- svc:status -->'
const maxTextLength = 30_000

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}\n\n(cut)` : text
}

/** `detail` is shown below, as prose and apart from what could act. */
export function writeStatus(summary: string, detail?: string): string {
  const shown = detail === undefined ? [] : ['', neutralize(cut(toProse(detail)))]
  return [marker, neutralize(cut(summary)), ...shown].join('\n')
}

/** The newest status comment of this author; others may copy the first line. */
export function findStatus<C extends { author: string; body: string }>(
  comments: readonly C[],
  login: string,
): C | undefined {
  return comments.findLast(({ author, body }) => author === login && body.startsWith(marker))
}
