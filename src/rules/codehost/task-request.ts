// What somebody on the code host asks of an agent.
import type { CodeHostEvent, CodeHostTarget } from '../../contract/api/codehost/events.ts'

/** `by`: what made it, as the label `svc.ai/created-by` says. */
export type TaskRequest = {
  event: CodeHostEvent
  target: CodeHostTarget
  action: string
  delivery: string
  label?: string | undefined
  by: 'codehost-label' | 'codehost-command'
}

/** Code of a fork was written by somebody without rights in the repository. A fork that was deleted counts as one. */
export function isFork({ repository }: CodeHostEvent, { head }: CodeHostTarget): boolean {
  return head !== undefined && head.repository?.fullName.toLowerCase() !== repository.fullName.toLowerCase()
}
