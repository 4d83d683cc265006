// What a run may look up that earlier runs left: for agents that coordinate, and wherever a tool is named.
import type { WorkAssignment } from '../contract/api/assignment.ts'
import { createSearchTranscript } from '../tools/memory/search-transcript.ts'
import type { Tool } from '../tools/tool.ts'
import type { WorkerApi } from './api.ts'

export function openMemory(
  { coordination, loop }: WorkAssignment,
  { transcripts }: Pick<WorkerApi, 'transcripts'>,
): Tool[] {
  const isOffered = ({ name }: Tool) => coordination?.coordinates === true || loop.tools.includes(name)
  return [createSearchTranscript(transcripts)].filter(isOffered)
}
