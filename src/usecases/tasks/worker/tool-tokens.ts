// Tokens for a running attempt's calls of custom tools.
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { readTaskToken } from '../../../lookup/child-task.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { allowsTool } from '../../../rules/identity/context-token.ts'
import { chooseTools } from '../../../rules/tools/choice.ts'
import { type IssuedToolToken, issueToolToken } from '../../identity/tool-token.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'

export type WorkerToolTokens = {
  /**
   * Forbidden for a task without a transaction and for a tool that the task does not have; NotConfigured,
   * UpstreamFailed, Unavailable.
   */
  takeToolToken(identity: WorkerIdentity, path: TaskPath & { tool: string }): Promise<IssuedToolToken>
}

export function createWorkerToolTokens(deps: UsecaseDeps): WorkerToolTokens {
  const { settings } = deps
  const { resources, secrets } = deps.ports

  /** Checked each time, because the agent may have been given another tool since the task started. */
  async function hasTool(task: Task, tool: string): Promise<boolean> {
    const { agentRef } = task.spec
    const { namespace } = task.metadata
    const agent = agentRef && (await resources.get('Agent', { namespace, ...agentRef }))
    const { context = {} } = task.spec.transaction ?? {}
    const isAllowed = (one: ResourceKey) => allowsTool(one, context, settings.contextMode ?? 'off')
    return chooseTools(task, agent).custom.some((one) => one.name === tool && isAllowed(one))
  }

  return {
    async takeToolToken(identity, path) {
      const task = await requireRunningTask(resources, identity, path)
      const { transaction } = task.spec
      const { tool, namespace, taskName } = path
      if (transaction === undefined) throw new SvcError('Forbidden', `task "${taskName}" is not part of a transaction`)
      if (!(await hasTool(task, tool))) throw new SvcError('Forbidden', `task "${taskName}" has no tool "${tool}"`)
      const subjectToken = (await readTaskToken(secrets, task))?.token
      const subject = subjectToken === undefined ? {} : { subjectToken }
      return issueToolToken(deps, { transaction, subject, tool, namespace, task: taskName })
    },
  }
}
