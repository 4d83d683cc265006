// What one chat turn consists of, and how it ended.

import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Spender } from '../../rules/budgets/budget.ts'
import type { BoundOrchestration } from '../coordination/orchestration/orchestration.ts'
import type { SessionHold } from './session-hold.ts'
import type { ChatSettings } from './settings.ts'

export type TurnParts = {
  id: string
  caller: Caller
  request: ChatRequest
  settings: ChatSettings
  choices: ModelChoice[]
  agent: Agent | undefined
  system: string
  tools: ToolHost
  /** Ends what its tools have kept open. Never rejects. */
  close(): Promise<void>
  /** Removed from tool results. */
  redact: (text: string) => string
  orchestration: BoundOrchestration
  hold: SessionHold
  /** Who the calls are charged to. */
  spender: Spender
}

export type Ending = {
  text: string
  /** What the loop itself says at the end. */
  closing: string
  state: LoopState | undefined
  historyBytes: number
  failure?: SvcError
}
