// Commands in comments: `/svc review`, `/svc explain`, `/svc stop`.

export const commandVerbs = ['review', 'explain', 'stop'] as const
/** What a comment may ask for. */
export type CommandVerb = (typeof commandVerbs)[number]

const command = /^\/svc[ \t]+([A-Za-z]+)[ \t]*$/

function isVerb(word: string): word is CommandVerb {
  return (commandVerbs as readonly string[]).includes(word)
}

/**
 * The command of a comment: its first line that is not empty. One in a quotation or a block of code is not meant, and so
 * is one in the middle of a text.
 */
export function readCommand(comment: string): CommandVerb | undefined {
  const first = comment.split(/\r?\n/, 64).find((line) => line.trim() !== '')
  const word = command.exec(first ?? '')?.[1]?.toLowerCase()
  return word !== undefined && isVerb(word) ? word : undefined
}
