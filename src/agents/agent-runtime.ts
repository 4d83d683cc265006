// What an agent program needs to be told and what it says, in words that are the same for all of them.

export type ReasoningEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** One run of an agent program. */
export type AgentJob = {
  prompt: string
  /** Added to the program's own system prompt. */
  systemPrompt?: string
  /** `provider/model`, as the proxies of the service know it. */
  model: string
  reasoningEffort?: ReasoningEffort
  maxTurns: number
  /** In the program's own words, such as `Read` or `Bash(git log:*)`; absent: whatever the program has. */
  allowedTools?: string[]
  disallowedTools?: string[]
  allowBash: boolean
  /** Of the tools that the rules allow, those for which a person is asked before each call. */
  approvalRequiredTools?: string[]
  /** Whether settings, instructions and servers that lie in the work folder count; they can start programs. */
  trustsFolder: boolean
  /** Absolute path, where the program works. */
  workFolder: string
  /** Absolute paths of more folders that it may read. */
  readFolders: string[]
  /** Absolute path of a folder that is the program's alone and that a later run of the same session has again. */
  home: string
  /** The service: `url` without a path, and the token of this task. */
  proxy: { url: string; token: string }
  /** Of the program; absent: not known, and taken for the newest. */
  version?: string
  /** Id of an earlier run's session to go on with, which lies in the home. */
  resume?: string
}

/** How the program is started. */
export type AgentStart = {
  /** Without the program itself. */
  args: string[]
  /** All that it has beside PATH, HOME and what follows from HOME. */
  env: Record<string, string>
  /** Text files that it needs, by path below the home. */
  files: Record<string, string>
  /** Written to it at the start. */
  input: string
  /** Names in the work folder, or above it, from which the program starts code whatever it is told: it is not run there. */
  refusedNames?: string[]
  /** Whether it is written to again, so that its input must not end yet. */
  staysOpen: boolean
  reader: AgentReader
}

/** Reads the program's output of one run, line by line, in order. */
export type AgentReader = {
  /** What the line says; a line that is no event says nothing. */
  read(line: string): AgentReading
}

export type AgentReading = {
  events: AgentEvent[]
  /** Text to write to the program in answer. */
  reply?: string
  /** Nothing more is to come, and the program may be stopped. */
  isOver?: boolean
  /** What a person has to decide before the program goes on. */
  question?: AgentQuestion
}

/** A call that the rules allow, once a person has approved it. */
export type AgentQuestion = {
  /** What the program calls the tool. */
  tool: string
  /** What the program reports about the call, as JSON; whoever answers decides by this. */
  call: Record<string, unknown>
  /** The answer for the program; `refusal`: why the call must not be made, absent when it may. */
  settle(refusal?: string): AgentReading
}

export type AgentEvent =
  /** The id with which the session can be resumed. */
  | { type: 'session'; id: string }
  /** One more answer of the model. None is reported of subagents. */
  | { type: 'turn' }
  /** Text of the model: whole, not in pieces. */
  | { type: 'text'; text: string }
  /** What the model thought before it spoke: whole, not in pieces. */
  | { type: 'thinking'; text: string }
  /** `edits`: paths of files that it changes if it succeeds, as far as the program reports them. */
  | { type: 'tool_started'; id: string; name: string; input: unknown; edits?: string[] }
  /** `output`: what the tool answered, as far as the program reports it. */
  | { type: 'tool_ended'; id: string; isError: boolean; output?: string }
  /** A tool call that the rules of the task do not allow. */
  | { type: 'refused'; tool: string; message: string }
  /** The program asks its model again; why, in a few words. */
  | { type: 'retried'; message: string }
  /** It has printed nothing for so long. */
  | { type: 'silent'; seconds: number }
  /** The final answer. */
  | { type: 'result'; text: string }
  /** The program says that it failed; `turns`: it reached its own limit of turns. */
  | { type: 'failed'; message: string; reason: 'turns' | 'other' }

/** The file in which a program keeps what was said in a session. */
export type SessionFile = {
  /** Folders below the home, in one of which it lies, and how its name ends. */
  locate(id: string, workFolder: string): { folders: string[]; ending: string }
  /** What a new home gets of it, by path: what was said, and nothing that would count more than the limits of the new run. */
  restore(saved: { id: string; text: string }, workFolder: string): Record<string, string>
}

/** One sort of agent program. Pure: it starts nothing and reads no file. */
export type AgentProgram = {
  /** The program, looked up in PATH. */
  command: string
  /** How it is installed, as a sentence's end: `npm install --global ...`. */
  install: string
  /** The lowest version that works, by what `--version` says; absent: any, and it is not asked. */
  lowest?: string
  prepare(job: AgentJob): AgentStart
  /** Absent: a session cannot be carried from one home to another. */
  sessionFile?: SessionFile
}

export const nothing: AgentReading = { events: [] }

/** Of an answer that comes in pieces, in characters; a longer one could not be kept as a result. */
export const maxAnswerLength = 10 * 1024 ** 2
export const answerTooLong: AgentEvent = {
  type: 'failed',
  message: 'The answer is longer than 10 MiB.',
  reason: 'other',
}

/** The request header that keeps the proxies from offering tools of the service beside the program's own. */
export const withoutServerTools = { name: 'X-Svc-Tools', value: 'disabled' }
