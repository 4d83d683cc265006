// The conversation that a run starts with. The service adds the outcome to the session when the task ends.

import type { TranscriptMessage } from '../../contract/api/chat/sessions.ts'
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import { createLoopState, type LoopState } from '../../llm/loop/loop-state.ts'
import { describeOutput } from '../../llm/loop/output-check.ts'
import { type Message, userText } from '../../llm/messages/messages.ts'
import { listSkills } from '../../tools/skills/skill-list.ts'
import { skillReadName } from '../../tools/skills/skill-read.ts'
import { describeIterations, quotePlan } from '../agent/iteration-prompt.ts'
import { quoteMemories } from './memory-prompt.ts'

/** The state of a new run: system prompt, the session so far, the prompt. */
export function openConversation(assignment: WorkAssignment): LoopState {
  const { loop, session, skills = [], coordination } = assignment
  const history = (session?.messages ?? []).flatMap(readMessage)
  // Vendors require the user to speak first.
  const start = history.findIndex((message) => message.role === 'user')
  const past = start === -1 ? [] : history.slice(start)
  const shape = loop.outputSchema === undefined ? '' : describeOutput(loop.outputSchema)
  const system = [
    loop.systemPrompt,
    listSkills(skills, `with ${skillReadName}`),
    describeIterations(coordination),
    shape,
  ]
    .filter((text) => text !== '')
    .join('\n\n')
  return createLoopState({
    system,
    messages: [...past, userText(loop.prompt + quotePlan(coordination) + quoteMemories(assignment))],
  })
}

/** Tool messages of a transcript are summaries without the call they answer; the spoken text is enough. */
function readMessage({ role, content }: TranscriptMessage): Message[] {
  if ((role !== 'user' && role !== 'assistant') || content.trim() === '') return []
  return [{ role, content: [{ type: 'text', text: content }] }]
}
