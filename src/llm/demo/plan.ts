// Splits a prompt into steps and says what each asks for.
import { type DemoAction, demoInstructions, demoVerbs } from './instructions.ts'

export type DemoStep = { text: string; action?: DemoAction }

const politeness = /^(?:please|now|first|finally|next|also|then|and|you should|can you|could you)[\s,:]+/i
const startsInstruction = new RegExp(`^(?:${demoVerbs})\\s`, 'i')
const startsCode = /^(?:run|execute)\s+\w+\s*:/i

/** Quoted and fenced text is never cut. */
const token = /```[\s\S]*?```|"[^"\n]*"|`[^`\n]*`|\s+then\s+|\s+and\s+|[;,]\s+|;|\.\s+|\n+|[\s\S]/gi

function strip(text: string): string {
  let rest = text.trim()
  while (politeness.test(rest)) rest = rest.replace(politeness, '')
  return rest
}

/** `then`, a full stop and line breaks always separate; the others only before a new instruction; inside code all do only then. */
function separates(separator: string, before: string, after: string): boolean {
  if (!/^(?:\s+then\s+|\s+and\s+|[;,]\s+|;|\.\s+|\n+)$/i.test(separator)) return false
  const isFollowed = startsInstruction.test(strip(after))
  if (startsCode.test(strip(before))) return isFollowed && !/^[;,.]/.test(separator)
  return isFollowed || /^(?:\s+then\s+|\.\s+|\n+)$/i.test(separator)
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

/** The steps of a prompt, in order; those without an action were not understood. */
export function planSteps(prompt: string): DemoStep[] {
  return splitSteps(prompt.slice(0, 100_000)).map((text) => {
    const action = findAction(text) ?? findAction(text.replace(/[.!?]+$/, ''))
    return action === undefined ? { text } : { text, action }
  })
}
