// The session of a task as its program keeps it itself: written into the new home before a run, read from there afterwards.
// Without it a run goes on with the text of the session, so nothing here fails a run.
import type { AgentJob, AgentProgram } from '../../agents/agent-runtime.ts'
import { maxProgramSessionBytes, ProgramSession } from '../../contract/api/chat/program-sessions.ts'
import { messageOf } from '../../errors.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { LeftFile, ReadLeftFiles } from '../../ports/tasks/workloads.ts'
import type { WorkerApi } from '../api.ts'
import { writeFiles } from './agent-home.ts'
import type { AgentEnd } from './agent-verdict.ts'

export type SessionLocation = {
  runtime: AgentProgram
  /** Provider and model. */
  model: string
  home: string
  workFolder: string
  note(line: string): void
}

/** The id with which the program goes on; undefined: with the text. */
export async function restoreSession(
  api: Pick<WorkerApi, 'readProgramSession'>,
  { runtime, model, home, workFolder, note }: SessionLocation,
): Promise<string | undefined> {
  if (runtime.sessionFile === undefined) return undefined
  try {
    const saved = await api.readProgramSession(model)
    if (saved === undefined) return undefined
    await writeFiles(home, runtime.sessionFile.restore(saved, workFolder), 'own')
    note('[goes on with its own session]')
    return saved.id
  } catch (error) {
    note(`[its own session cannot be read: ${messageOf(error)}]`)
    return undefined
  }
}

type Beginning = {
  /** Begins with the text of the session. */
  job: AgentJob
  /** Goes on with the session that was written there. */
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

type SessionSink = { api: Pick<WorkerApi, 'keepProgramSession'>; readLeftFiles: ReadLeftFiles; redact: Redactor }

/** `id`: what the program calls its session. */
export async function saveSession(sink: SessionSink, location: SessionLocation, id: string | undefined): Promise<void> {
  const { runtime, model, note } = location
  if (runtime.sessionFile === undefined || !ProgramSession.shape.id.safeParse(id).success || id === undefined) return
  try {
    const text = await readSession(sink.readLeftFiles, location, id)
    if (text !== undefined) await sink.api.keepProgramSession(model, { id, text: sink.redact(text) })
  } catch (error) {
    note(`[its own session is not kept: ${messageOf(error)}]`)
  }
}

async function readSession(
  readLeftFiles: ReadLeftFiles,
  location: SessionLocation,
  id: string,
): Promise<string | undefined> {
  for await (const file of listFiles(readLeftFiles, location, id)) {
    if (!('open' in file)) continue
    if (file.size <= maxProgramSessionBytes) return await readText(file.open())
    location.note('[its own session is not kept: it is larger than 5 MiB]')
    return undefined
  }
  return undefined
}

async function* listFiles(
  readLeftFiles: ReadLeftFiles,
  { runtime, home, workFolder }: SessionLocation,
  id: string,
): AsyncGenerator<LeftFile> {
  if (runtime.sessionFile === undefined) return
  const { folders, ending } = runtime.sessionFile.locate(id, workFolder)
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
