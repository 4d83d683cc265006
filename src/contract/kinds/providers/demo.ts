// How the demo provider names itself, and what it says of an instruction that it does not know (PROV-014).

export const demoLabel = '[demo provider: this is not a language model]'

/** Stands below an instruction, in the place of what was done. */
export const notUnderstood = 'not understood'
/** Before a prompt in which there is no instruction. */
export const nothingUnderstood = 'No instruction was understood in: '

/** What it did not understand of a prompt, as it repeats it; none in the result of a language model. */
export function listNotUnderstood(result: string): string[] {
  if (!result.startsWith(demoLabel)) return []
  const lines = result.split('\n')
  return lines.flatMap((line, at) => {
    if (line.startsWith(nothingUnderstood)) return [line.slice(nothingUnderstood.length).replace(/^"|"$/g, '')]
    const [, step] = /^\d+\. (.*)$/.exec(line) ?? []
    return step !== undefined && lines[at + 1]?.trim() === notUnderstood ? [step] : []
  })
}
