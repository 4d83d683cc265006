// What an event of the code host asks for: by its label, by a command in a comment (`/svc review`), or by what has happened.
import type { CodeHostEvent } from '../../contract/api/codehost/events.ts'

const commandVerbs = ['review', 'explain', 'stop'] as const
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
function readCommand(comment: string): CommandVerb | undefined {
  const first = comment.split(/\r?\n/, 64).find((line) => line.trim() !== '')
  const word = command.exec(first ?? '')?.[1]?.toLowerCase()
  return word !== undefined && isVerb(word) ? word : undefined
}

/** `monitors`: runs at exactly the head of the event; `cancel` without a label: all that the target has started. */
export type RequestedAction =
  | { kind: 'task'; action: string; label: string }
  | { kind: 'monitors' }
  | { kind: 'cancel'; label?: string }
  | { kind: 'command'; verb: CommandVerb }

/** At least one ask, or why there is none; `problem`: the event lacks what its kind of event always has. */
type EventDecision = { asks: readonly RequestedAction[] } | { ignored: string } | { problem: string }

const monitoredActions = ['opened', 'reopened', 'synchronize', 'ready_for_review', 'labeled', 'unlabeled']
const endingActions = ['closed', 'deleted', 'transferred']

/** The action that a label asks for: what follows the prefix, which may be in upper or lower case. */
function actionOf(label: string, prefix: string): string | undefined {
  if (!label.toLowerCase().startsWith(prefix.toLowerCase())) return undefined
  const action = label.slice(prefix.length).trim().toLowerCase()
  return action === '' ? undefined : action
}

function describeLabel(label: string, prefix: string): string {
  return label.toLowerCase().startsWith(prefix.toLowerCase())
    ? `label ${label} names no action after ${prefix}`
    : `label ${label} has no prefix ${prefix}`
}

/** Of an issue event about a pull request, or an action that an issue cannot have. */
function findUnfit({ event, target }: CodeHostEvent, action: string): string | undefined {
  if (event === 'issues' && target?.kind === 'pull_request')
    return 'the event tells of a pull request without its head; its own event is worked off'
  const isForPulls = action === 'review' || action === 'update-branch'
  return isForPulls && target?.kind === 'issue' ? `${action} is for pull requests, and this is an issue` : undefined
}

function decideLabel(event: CodeHostEvent, prefix: string, monitors: readonly RequestedAction[]): EventDecision {
  const { label, target } = event
  if (label === undefined || target === undefined)
    return { problem: `the payload of a ${event.action} event has no ${label === undefined ? 'label' : 'issue'}` }
  const action = actionOf(label, prefix)
  const refused = action === undefined ? describeLabel(label, prefix) : findUnfit(event, action)
  if (action === undefined || refused !== undefined) return orIgnore(monitors, refused ?? '')
  if (event.action === 'labeled') return { asks: [...monitors, { kind: 'task', action, label }] }
  // No run: it would start anew the review that this label had started, and that ends now.
  return { asks: [{ kind: 'cancel', label }] }
}

function orIgnore(asks: readonly RequestedAction[], ignored: string): EventDecision {
  return asks.length > 0 ? { asks } : { ignored }
}

function decideComment(event: CodeHostEvent): EventDecision {
  if (event.action !== 'created') return { ignored: `comments that are ${event.action} are not read` }
  if (event.isBot) return { ignored: 'comments of programs are not read' }
  const verb = readCommand(event.comment?.body ?? '')
  return verb === undefined ? { ignored: 'the comment holds no command' } : { asks: [{ kind: 'command', verb }] }
}

/** `prefix`: of labels that create tasks. */
export function decideEvent(event: CodeHostEvent, { prefix }: { prefix: string }): EventDecision {
  const { action } = event
  if (event.event === 'issue_comment') return decideComment(event)
  if (endingActions.includes(action)) return { asks: [{ kind: 'cancel' }] }
  const isMonitored = event.event === 'pull_request' && monitoredActions.includes(action)
  const monitors: RequestedAction[] = isMonitored && event.target !== undefined ? [{ kind: 'monitors' }] : []
  if (action === 'labeled' || action === 'unlabeled') return decideLabel(event, prefix, monitors)
  return orIgnore(monitors, `nothing waits for action ${action} of ${event.event}`)
}
