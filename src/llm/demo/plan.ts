// Splits a prompt into steps, and finds the action of each.
import { type DemoAction, demoInstructions, demoVerbs } from './instructions.ts'

export type DemoStep = { text: string; action?: DemoAction }

const politeness = /^(?:please|now|first|finally|next|also|then|and|you should|can you|could you)[\s,:]+/i
const startsInstruction = new RegExp(`^(?:${demoVerbs})\\s`, 'i')
const startsCode = /^(?:run|execute)\s+\w+\s*:/i

/** Quoted and fenced text is never split. */
const token = /```[\s\S]*?```|"[^"\n]*"|`[^`\n]*`|[,;.]?\s+(?:and\s+)?then\s+|\s+and\s+|[;,]\s+|;|\.\s+|\n+|[\s\S]/gi

function strip(text: string): string {
  let rest = text.trim()
  while (politeness.test(rest)) rest = rest.replace(politeness, '')
  return rest
}

const separator = /^(?:[,;.]?\s+(?:and\s+)?then\s+|\s+and\s+|[;,]\s+|;|\.\s+|\n+)$/i
const hardSeparator = /^(?:[,;.]?\s+(?:and\s+)?then\s+|\.\s+|\n+)$/i

/**
 * `then`, a full stop and line breaks always separate; others only before a new instruction. Code ends at more
 * characters.
 */
function separates(text: string, before: string, after: string): boolean {
  if (!separator.test(text)) return false
  const isFollowed = startsInstruction.test(strip(after))
  if (startsCode.test(strip(before))) return isFollowed && /then|and|\n/i.test(text)
  return isFollowed || hardSeparator.test(text)
}

function splitSteps(prompt: string): string[] {
  const steps: string[] = []
  let current = ''
  for (const match of prompt.matchAll(token)) {
    const after = prompt.slice(match.index + match[0].length)
    if (separates(match[0], current, after)) {
      steps.push(current)
      current = ''
    } else current += match[0]
  }
  return [...steps, current].map(strip).filter((step) => step !== '')
}

function findAction(text: string): DemoAction | undefined {
  for (const instruction of demoInstructions) {
    const match = instruction.pattern.exec(text)
    const action = match === null ? undefined : instruction.act(match)
    if (action !== undefined) return action
  }
  return undefined
}

/** The steps of a prompt, in order; a step without an action was not understood. */
export function planSteps(prompt: string): DemoStep[] {
  return splitSteps(prompt.slice(0, 100_000)).map((text) => {
    const action = findAction(text) ?? findAction(text.replace(/[.!?]+$/, ''))
    return action === undefined ? { text } : { text, action }
  })
}
