// Whether the user's own words ask to manage agents, tools, sessions or monitors (CTOOL-021).

const verb =
  'creat(?:e|es|ing)|mak(?:e|es|ing)|new|add(?:s|ing)?|updat(?:e|es|ing)|chang(?:e|es|ing)|edit(?:s|ing)?|delet(?:e|es|ing)|remov(?:e|es|ing)|set up'
const noun = 'agents?|tools?|sessions?|monitors?'
/** The number of words allowed between the verb and its object. */
const nearby = '(?:[^\\s.!?;]+\\s+){0,6}?'

// "create a small agent", and "the agent should be deleted"; not "create a report with every tool you have, ...".
const verbFirst = new RegExp(`\\b(?:${verb})\\s+${nearby}[^\\s.!?;]*\\b(?:${noun})\\b`, 'i')
const nounFirst = new RegExp(
  `\\b(?:${noun})\\s+${nearby}(?:${verb}|created|made|added|updated|changed|edited|deleted|removed)\\b`,
  'i',
)

// Most messages contain none of these words; this cheap test finds those.
const anyNoun = /agent|tool|session|monitor/i

export function asksToManage(message: string): boolean {
  if (!anyNoun.test(message)) return false
  return verbFirst.test(message) || nounFirst.test(message)
}
