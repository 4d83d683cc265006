// Under which word the messages of a task go into its session, so that the same ones are never added twice.

/** Of what the service adds when the task ends: its prompt and its outcome. Who has used it wrote that itself. */
export const outcomeWord = 'outcome'

/** A word is the task's own: two tasks that use the same one do not hide each other's messages. */
export function makeTranscriptWord(taskUid: string, word: string): string {
  return `${taskUid}:${word}`
}

/** Under which the tokens of a task are counted in its session, once; no word of the task's own. */
export function makeUsageWord(taskUid: string): string {
  return `usage:${taskUid}`
}
