// The session of a task as its program keeps it itself: laid into the new home before a run, read from there afterwards.
// Without it a run goes on with the text of the session, so nothing here fails a run.
import type { AgentJob, AgentRuntime } from '../../agents/runtime.ts'
import { longestProgramSession, ProgramSession } from '../../contract/api/chat/program-sessions.ts'
import { messageOf } from '../../errors.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { LeftFile, ReadLeftFiles } from '../../ports/tasks/left-files.ts'
import type { WorkerApi } from '../api.ts'
import { layFiles } from '../lay-files.ts'
import type { AgentEnd } from './agent-verdict.ts'

export type SessionPlace = {
  runtime: AgentRuntime
  /** Provider and model. */
  model: string
  home: string
  workFolder: string
  note(line: string): void
}

/** The id with which the program goes on; undefined: with the text. */
export async function laySession(
  api: Pick<WorkerApi, 'readProgramSession'>,
  { runtime, model, home, workFolder, note }: SessionPlace,
): Promise<string | undefined> {
  if (runtime.sessionFile === undefined) return undefined
  try {
    const kept = await api.readProgramSession(model)
    if (kept === undefined) return undefined
    await layFiles(home, runtime.sessionFile.lay(kept, workFolder), 'own')
    note('[goes on with its own session]')
    return kept.id
  } catch (error) {
    note(`[its own session cannot be read: ${messageOf(error)}]`)
    return undefined
  }
}

type Beginning = {
  /** Begins with the text of the session. */
  job: AgentJob
  /** Goes on with the session that was laid. */
  resumed: AgentJob | undefined
  note(line: string): void
}

/** A program that would not go on with its session ends before its model has said anything. */
export async function startWithSession(
  start: (job: AgentJob) => Promise<AgentEnd>,
  { job, resumed, note }: Beginning,
): Promise<AgentEnd> {
  if (resumed === undefined) return start(job)
  const end = await start(resumed)
  if (end.ok || end.turns > 0 || !['NoResult', 'AgentFailed'].includes(end.reason)) return end
  note(`[does not go on with its own session, and begins with the text of it: ${end.message}]`)
  return start(job)
}

type Keeper = { api: Pick<WorkerApi, 'keepProgramSession'>; readLeftFiles: ReadLeftFiles; redact: Redactor }

/** `id`: what the program calls its session. */
export async function keepSession(keeper: Keeper, place: SessionPlace, id: string | undefined): Promise<void> {
  const { runtime, model, note } = place
  if (runtime.sessionFile === undefined || !ProgramSession.shape.id.safeParse(id).success || id === undefined) return
  try {
    const text = await readSession(keeper.readLeftFiles, place, id)
    if (text !== undefined) await keeper.api.keepProgramSession(model, { id, text: keeper.redact(text) })
  } catch (error) {
    note(`[its own session is not kept: ${messageOf(error)}]`)
  }
}

async function readSession(readLeftFiles: ReadLeftFiles, place: SessionPlace, id: string): Promise<string | undefined> {
  for await (const file of listFiles(readLeftFiles, place, id)) {
    if (!('open' in file)) continue
    if (file.size <= longestProgramSession) return await readText(file.open())
    place.note('[its own session is not kept: it is larger than 5 MiB]')
    return undefined
  }
  return undefined
}

async function* listFiles(
  readLeftFiles: ReadLeftFiles,
  { runtime, home, workFolder }: SessionPlace,
  id: string,
): AsyncGenerator<LeftFile> {
  if (runtime.sessionFile === undefined) return
  const { folders, ending } = runtime.sessionFile.place(id, workFolder)
  for (const folder of folders) {
    for await (const file of readLeftFiles(home, folder)) if (file.name.endsWith(ending)) yield file
  }
}

async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
