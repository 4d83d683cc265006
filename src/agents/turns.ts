// Turns of programs that tell no calls of the model.
import type { AgentEvent } from './runtime.ts'

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
