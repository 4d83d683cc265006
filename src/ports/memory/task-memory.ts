// Durable memory as a running task sees it.
import type { ProposeMemory, RecallMemory } from '../../contract/api/memory/memory-tools.ts'
import type { Memory } from './memories.ts'
import type { MemoryProposal } from './memory-proposals.ts'

export interface TaskMemory {
  /** The best match first. */
  recall(args: RecallMemory): Promise<Memory[]>
  /** The same call makes one proposal. Nobody but a person applies it. */
  propose(call: string, args: ProposeMemory): Promise<MemoryProposal>
}
