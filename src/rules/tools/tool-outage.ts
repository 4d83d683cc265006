// Whether calls of a tool are worth trying, from what was found when it was last checked.
import type { Tool } from '../../contract/kinds/tools/tool.ts'

/** A finding is believed for this long; checks of a tool that is not available follow each other more closely. */
const believedMs = 60_000

/** Whether the status is about the spec as it is now. */
export function hasStatusOfSpec({ metadata, status }: Tool): boolean {
  return status?.observedGeneration === metadata.generation
}

/** Why its calls fail at once, and until when; undefined when they are tried. */
export function readOutage(tool: Tool): { message: string; until: string } | undefined {
  const { available, error, lastCheck } = tool.status ?? {}
  if (available !== false || error === undefined || lastCheck === undefined || !hasStatusOfSpec(tool)) return undefined
  return { message: error, until: new Date(Date.parse(lastCheck) + believedMs).toISOString() }
}
