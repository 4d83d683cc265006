// Two hosts as one.
import type { ToolHost } from '../../llm/loop/tool-host.ts'

/** Tools of the second take precedence over those of the same name. */
export function joinHosts(first: ToolHost, second: ToolHost): ToolHost {
  const names = new Set(second.list().map(({ name }) => name))
  const list = [...first.list().filter(({ name }) => !names.has(name)), ...second.list()]
  return {
    list: () => list,
    call: (call, signal) => (names.has(call.name) ? second : first).call(call, signal),
  }
}
