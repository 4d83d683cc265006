// The tools of the code host in a run: those that the service says the task has.
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { TaskCodeHost } from '../../ports/codehost/task-code-host.ts'
import { codeHostTools } from '../../tools/codehost/code-host-tools.ts'
import { createCallHost } from '../../tools/coordination/worker/coordination-tool.ts'
import { joinHosts } from '../agent/join-hosts.ts'

/** The host with these tools as well. */
export function joinCodeHost(host: ToolHost, assignment: WorkAssignment, codeHost: TaskCodeHost): ToolHost {
  const { codeHostTools: offered = [], coordination } = assignment
  const tools = codeHostTools.filter(({ name }) => offered.includes(name))
  if (tools.length === 0) return host
  const readHeads = new Map<string, string>()
  const iteration = coordination?.iteration ?? 0
  return joinHosts(host, createCallHost(tools, { iteration, contextOf: (call) => ({ ...call, codeHost, readHeads }) }))
}
