// Reading what agent programs print: lines of JSON, turns where a program reports none, and the files that a call changes.
import { z } from 'zod'
import type { AgentEvent } from './agent-runtime.ts'

/** The line by the schema; undefined if it is half a line, no JSON, or an event that the schema does not know. */
export function parseLine<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

/** `pathArguments`: the argument that names the file, by the names of tools that change one. */
export function findEdits(pathArguments: Record<string, string>, tool: string, input: unknown): { edits?: string[] } {
  const argument = Object.hasOwn(pathArguments, tool) ? pathArguments[tool] : undefined
  const path = argument === undefined ? undefined : (input as Record<string, unknown> | null | undefined)?.[argument]
  return typeof path === 'string' ? { edits: [path] } : {}
}

const Text = z.looseObject({ text: z.string().optional() })
/** Some wrap each piece once more. */
const Pieces = z.array(Text.extend({ content: Text.optional().catch(undefined) }))

/** The text of an answer of a tool: a text, or a list of pieces, of which those of text count. */
export function readOutput(answer: unknown): { output?: string } {
  if (typeof answer === 'string') return { output: answer }
  const pieces = Pieces.safeParse(answer).data ?? []
  const texts = pieces.flatMap(({ text, content }) => text ?? content?.text ?? [])
  return texts.length === 0 ? {} : { output: texts.join('\n') }
}

/** Some report that there was thinking, and not what. */
export function readThinking(text: string): AgentEvent[] {
  return text.trim() === '' ? [] : [{ type: 'thinking', text }]
}

type Turns = {
  /** The model speaks. */
  speak(): AgentEvent[]
  /** The model calls a tool. */
  startTool(id: string): AgentEvent[]
  isRunning(id: string): boolean
  endTool(id: string): void
}

/** What the model says and calls up to the end of its tools is one answer. */
export function createTurns(): Turns {
  const running = new Set<string>()
  let isOpen = false
  const speak = (): AgentEvent[] => {
    if (isOpen) return []
    isOpen = true
    return [{ type: 'turn' }]
  }
  return {
    speak,
    startTool(id) {
      running.add(id)
      return speak()
    },
    isRunning: (id) => running.has(id),
    endTool(id) {
      running.delete(id)
      if (running.size === 0) isOpen = false
    },
  }
}
