// What an agent program asks people for. A run that waits for an answer ends; the next one begins again, and a question with
// the same call gets the answer that is stored by then.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { AgentQuestion } from '../../agents/agent-runtime.ts'
import {
  type ApprovalAnswerSeen,
  AskApproval,
  defaultApprovalWait,
} from '../../contract/api/coordination/coordination.ts'
import type { AssignedTask } from '../../contract/api/tasks/assignment.ts'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { type Redactor, redactJson } from '../../observability/redaction.ts'
import { explainNotApproved } from '../../tools/coordination/family/approved-host.ts'
import type { WorkerApi } from '../api.ts'
import { shorten, toLine } from '../task-log.ts'
import type { AskPerson } from './agent-program.ts'

export type AgentApprovals = {
  /** What people have answered to earlier attempts, for the program to read; empty: nothing. */
  answers: string
  ask: AskPerson
  /** Stores what has no answer yet. Returns what the run waits for. */
  save(): Promise<ParkWait[]>
}

const SavedQuestion = z.object({ call: z.string(), args: AskApproval })
type SavedQuestion = z.infer<typeof SavedQuestion>

/** Of the state that an attempt leaves; of another version it counts as none. */
const SavedQuestions = z.object({ kind: z.literal('agent'), questions: z.array(SavedQuestion) })

/** What sandboxes call the folder that a program works in. */
const workspaceInside = '/workspace'
/** What is shown of a call, in characters of JSON; of a longer one the beginning. */
const maxShownLength = 16_384
const maxNameLength = 253
const maxMessageLength = 4000
/** Answers that the program is told of: the newest. */
const maxQuestions = 20

type Api = Pick<WorkerApi, 'coordination' | 'saveCheckpoint' | 'loadCheckpoint'>

/** Absolute paths of an attempt, which can be other ones in the next. */
type AttemptFolders = { workFolder: string; home: string }

type Options = {
  folders: AttemptFolders
  task: Pick<AssignedTask, 'attempt'>
  /** For people. */
  redact: Redactor
  note(line: string): void
}

export async function openApprovals(api: Api, options: Options): Promise<AgentApprovals> {
  const { task, note } = options
  const standIns = listStandIns(options.folders)
  const redact = (text: string) => exchange(options.redact(text), standIns)
  const questions = task.attempt === 1 ? [] : await loadQuestions(api)
  const answers = exchange(
    await describeAnswers(api, questions),
    standIns.map(([folder, standIn]) => [standIn, folder]),
  )
  // No text of JSON has the character that these begin with.
  const marks = standIns.map(([folder], at): Exchange => [folder, `\0${at}`])
  const times = new Map<string, number>()
  let waiting: { saved: SavedQuestion; wait: ParkWait } | undefined

  /** A call that comes again in the same run is another question. */
  function nameQuestion(call: AgentQuestion['call']): string {
    const text = exchange(JSON.stringify(call), marks)
    const time = times.get(text) ?? 0
    times.set(text, time + 1)
    return `agent-${createHash('sha256').update(`${time} ${text}`).digest('hex')}`
  }

  /** Undefined for what cannot be written, and so neither be named nor shown. */
  function describe({ tool, call }: AgentQuestion): SavedQuestion | undefined {
    try {
      return { call: nameQuestion(call), args: showCall(tool, call, redact) }
    } catch {
      return undefined
    }
  }

  return {
    answers,
    async ask(question) {
      const saved = describe(question)
      if (saved === undefined) return { refusal: 'The call nests too deep to be shown to a person.' }
      const answer = await api.coordination.askApproval(saved.call, saved.args)
      note(toLine(`a person is asked about ${saved.args.tool}: ${answer.status}`))
      if (answer.wait === undefined) return answer.status === 'approved' ? {} : { refusal: explainNotApproved(answer) }
      waiting = { saved, wait: answer.wait }
      return 'wait'
    },
    async save() {
      if (waiting === undefined) return []
      const { saved, wait } = waiting
      const earlier = questions.filter(({ call }) => call !== saved.call)
      await api.saveCheckpoint({ kind: 'agent', questions: [...earlier, saved].slice(-maxQuestions) })
      return [wait]
    },
  }
}

type Exchange = [from: string, to: string]

/** So that the same call is the same question in every attempt. In a sandbox the folder has this name already. */
function listStandIns({ workFolder, home }: AttemptFolders): Exchange[] {
  const workspace: Exchange = [workFolder, workspaceInside]
  const isInside = `${workFolder}/`.startsWith(`${workspaceInside}/`)
  return [[home, '/home/agent'], ...(isInside ? [] : [workspace])]
}

function exchange(text: string, exchanges: Exchange[]): string {
  return exchanges.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
}

/** Secrets are taken out before anything is cut, so that no part of one is left. */
function showCall(tool: string, call: AgentQuestion['call'], redact: Redactor): AskApproval {
  const shown = redactJson(call, redact) as AgentQuestion['call']
  const text = JSON.stringify(shown)
  const name = toLine(redact(tool)).slice(1, -1).slice(0, maxNameLength).toWellFormed() || 'tool'
  return {
    tool: name,
    arguments: text.length <= maxShownLength ? shown : { beginning: shorten(text, maxShownLength) },
    message: `${name} ${shorten(text, maxMessageLength)}`,
    timeout: defaultApprovalWait,
  }
}

async function loadQuestions(api: Pick<Api, 'loadCheckpoint'>): Promise<SavedQuestion[]> {
  const [state] = (await api.loadCheckpoint()) ?? []
  return SavedQuestions.safeParse(state).data?.questions ?? []
}

async function describeAnswers(api: Pick<Api, 'coordination'>, questions: SavedQuestion[]): Promise<string> {
  const lines: string[] = []
  for (const { call, args } of questions) {
    const line = describeAnswer(args, await api.coordination.askApproval(call, args))
    if (line !== undefined) lines.push(line)
  }
  if (lines.length === 0) return ''
  return `You worked on this before, and stopped to ask a person. You begin again with a fresh folder. Each answer counts for a call with
exactly these arguments, so make an approved call as it stands here, and find another way for one that was not approved:
${lines.join('\n')}`
}

function describeAnswer({ message }: AskApproval, answer: ApprovalAnswerSeen): string | undefined {
  if (answer.wait !== undefined) return undefined
  return answer.status === 'approved' ? `- approved: ${message}` : `- ${explainNotApproved(answer)}: ${message}`
}
