// A scheduled task that reviews the pull requests of a repository, with nothing but the tools for that (CODEHOST-018..030).

import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { readRepositoryUrl, repositoryUrlOf } from '../../../contract/values/repository-url.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Orchestration, PrMonitorRequest } from '../../../ports/coordination/coordination.ts'
import type { Secrets } from '../../../ports/resources/secrets.ts'
import { codeHostEntryNames, readCodeHostEntries } from '../../../rules/codehost/code-host-login.ts'
import { monitorAnnotation, monitorTools } from '../../../rules/codehost/code-host-tools.ts'
import { writeMonitorPrompt } from '../../../rules/monitors/prompt.ts'
import { autonomyOf } from '../../../rules/tasks/iteration.ts'
import { locateNamespace, type OrchestrationScope } from './scope.ts'
import type { OrchestrationDeps } from './tasks.ts'

/** Looked for in this order where the request names none. */
const usualSecrets = ['git-credentials', 'codehost-credentials', 'agent-cli-token', 'codehost-token', 'git-token']

function refuse(message: string): never {
  throw new SvcError('InvalidRequest', message)
}

function requireReviewer(name: string, agent: Agent | undefined): void {
  if (agent === undefined) refuse(`agent_ref: there is no agent "${name}"; list_agents shows them`)
  if (agent.spec.runtime !== undefined) {
    refuse(`agent_ref: agent "${name}" has a runtime; name an AI agent without one`)
  }
  if (agent.spec.coordination?.enabled !== true) {
    refuse(`agent_ref: agent "${name}" does not coordinate; set coordination.enabled`)
  }
  if (autonomyOf(agent) !== undefined) {
    refuse(`agent_ref: agent "${name}" is autonomous; set coordination.autonomous to false`)
  }
}

/** The name of a Secret with a token in it. */
async function chooseSecret(secrets: Secrets, namespace: string, given: string | undefined): Promise<string> {
  for (const name of given === undefined ? usualSecrets : [given]) {
    const values = await secrets.read({ namespace, name })
    if (values === undefined) continue
    if (readCodeHostEntries(values) !== undefined) return name
    refuse(`gitSecretRef: secret "${name}" in namespace "${namespace}" has no ${codeHostEntryNames}; add one`)
  }
  const wanted = given === undefined ? `none of ${usualSecrets.join(', ')}` : `no secret "${given}"`
  return refuse(
    `gitSecretRef: there is ${wanted} in namespace "${namespace}"; create one with the token as CODEHOST_TOKEN`,
  )
}

type MonitorDeps = Pick<OrchestrationDeps, 'ports' | 'resources'>

/** `createTask`: with the rights of the person, because a model itself may not name a Secret. */
export function createMonitorVerb(
  { ports, resources }: MonitorDeps,
  scope: OrchestrationScope,
  createTask: Orchestration['createTask'],
): Pick<Orchestration, 'createPrMonitor'> {
  async function findAgent(namespace: string, name: string): Promise<Agent | undefined> {
    try {
      return await resources.get(scope.caller, 'Agent', { namespace, name })
    } catch (error) {
      if (isSvcError(error, 'NotFound')) return undefined
      throw error
    }
  }

  return {
    async createPrMonitor(request: PrMonitorRequest): Promise<Task> {
      const namespace = locateNamespace(scope, request.namespace)
      const read = readRepositoryUrl(request.repoUrl, ports.codeHosts.hosts)
      if ('problem' in read) refuse(`repo_url ${read.problem}`)
      requireReviewer(request.agent, await findAgent(namespace, request.agent))
      const secret = await chooseSecret(ports.secrets, namespace, request.secret)
      const url = repositoryUrlOf(read.repository)
      return createTask({
        namespace,
        notes: { [monitorAnnotation]: request.name },
        spec: {
          type: 'ai',
          schedule: request.schedule,
          agentRef: { name: request.agent },
          ai: {
            prompt: writeMonitorPrompt({ ...request, url }),
            tools: [...monitorTools],
            ...(request.provider !== undefined && { providerRef: { name: request.provider } }),
          },
          workspace: { gitRepo: request.repoUrl, gitSecretRef: { name: secret } },
        },
      })
    },
  }
}
