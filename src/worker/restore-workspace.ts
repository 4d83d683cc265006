// A new attempt starts in an empty folder: what earlier turns wrote with file_write is written again, in order.
import type { LoopState } from '../llm/loop/loop-state.ts'
import type { ToolHost } from '../llm/loop/tool-host.ts'
import type { ToolUseBlock } from '../llm/messages/messages.ts'

/** How many writes were repeated; 0 when the folder still has the files. Files made by code cannot be restored. */
export async function restoreWorkspace(
  state: LoopState,
  host: ToolHost,
  options: { isFresh: boolean; signal: AbortSignal },
): Promise<number> {
  if (!options.isFresh) return 0
  const writes = listWrites(state)
  for (const { id, name, args } of writes) await host.call({ id, name, args }, options.signal)
  return writes.length
}

/** The writes that took effect, in order. */
function listWrites(state: LoopState): Pick<ToolUseBlock, 'id' | 'name' | 'args'>[] {
  const blocks = state.messages.flatMap((message) => message.content)
  const done = new Set(
    blocks.flatMap((block) => (block.type === 'tool_result' && !block.isError ? [block.toolUseId] : [])),
  )
  const uses = blocks.filter((block) => block.type === 'tool_use').filter((use) => done.has(use.id))
  const pending = state.pending.filter((call) => call.state === 'done' && call.result?.isError === false)
  return [...uses, ...pending.filter((call) => !done.has(call.id))].filter((call) => call.name === 'file_write')
}
