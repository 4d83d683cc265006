// The one comment in which the service answers commands: found again by its first line, and safe to show whatever is in it.

/** The first line of the comment; invisible to readers. */
const marker = '<!-- svc:status -->'
const maxTextLength = 30_000

/** Text of a model or a stranger that mentions nobody, hides nothing, and is no command. */
function neutralize(text: string): string {
  return text
    .replaceAll('@', '@\u200b')
    .replaceAll('<!--', '<\u200b!--')
    .replace(/^([^\S\n\r\u2028\u2029]*)\//gm, '$1\u200b/')
}

/** `detail` is shown below, as it is apart from what could act. */
export function writeStatus(summary: string, detail?: string): string {
  const cut = detail !== undefined && detail.length > maxTextLength
  const shown =
    detail === undefined ? [] : ['', neutralize(cut ? `${detail.slice(0, maxTextLength)}\n\n(cut)` : detail)]
  return [marker, neutralize(summary), ...shown].join('\n')
}

/** The newest status comment of this author; others may copy the first line. */
export function findStatus<C extends { author: string; body: string }>(
  comments: readonly C[],
  login: string,
): C | undefined {
  return comments.findLast(({ author, body }) => author === login && body.startsWith(marker))
}
