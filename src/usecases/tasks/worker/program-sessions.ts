// A session as the agent program of a task keeps it itself, beside the transcript.
import type { ProgramSession } from '../../../contract/api/chat/program-sessions.ts'
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import { nameOfProgram } from '../../../rules/agents/programs.ts'
import { limitMessages } from '../../../rules/chat/transcripts.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'

/** Every call throws Forbidden for a task other than the token's own, and for an attempt that is not the live one. */
export type WorkerProgramSessions = {
  /** NotFound when the task has no session, or no agent with a program. */
  keepProgramSession(
    identity: WorkerIdentity,
    path: TaskPath,
    session: ProgramSession & { model: string },
  ): Promise<void>
  /** NotFound as well when there is nothing to go on with. */
  readProgramSession(identity: WorkerIdentity, path: TaskPath, model: string): Promise<ProgramSession>
}

/** Prompt and outcome, which the service appends when the task ends. */
const messagesOfTask = 2

type Reference = NonNullable<Task['spec']['sessionRef']>
type ProgramContext = { reference: Reference; agent: Agent; key: { namespace: string; name: string }; program: string }

export function createWorkerProgramSessions({ ports }: UsecaseDeps): WorkerProgramSessions {
  const { records, resources } = ports
  const { sessions } = records

  async function findContext(identity: WorkerIdentity, path: TaskPath, model: string): Promise<ProgramContext> {
    const { spec } = await requireRunningTask(resources, identity, path)
    const { namespace } = path
    const { agentRef, sessionRef: reference } = spec
    const agent = agentRef && (await resources.get('Agent', { namespace, ...agentRef }))
    const name = agent?.spec.runtime && nameOfProgram(agent.spec.runtime)
    if (reference === undefined || agent === undefined || name === undefined)
      throw new SvcError('NotFound', `task "${path.taskName}" has no session of an agent program`)
    // A new agent of the same name is another one.
    const program = [agent.metadata.uid, name, model].join(' ')
    return { reference, agent, key: { namespace, name: reference.name }, program }
  }

  return {
    async keepProgramSession(identity, path, { id, text, model }) {
      const { reference, key, program } = await findContext(identity, path, model)
      if (!reference.append) return
      await sessions.keepProgram(key, { program, id, text }, { holder: identity.taskUid, more: messagesOfTask })
    },
    async readProgramSession(identity, path, model) {
      const { reference, agent, key, program } = await findContext(identity, path, model)
      const [session, stored] = await Promise.all([sessions.get(key), sessions.findProgram(key, program)])
      const isShown = session !== undefined && session.messageCount <= limitMessages(reference, agent)
      if (stored === undefined || !isShown)
        throw new SvcError('NotFound', `the program has kept nothing of session "${key.name}" to go on with`)
      return { id: stored.id, text: stored.text }
    },
  }
}
