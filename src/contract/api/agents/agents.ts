// Agents, and the versions of what they tell their models.
import { z } from 'zod'
import { Agent, AgentModel } from '../../kinds/agents/agent.ts'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { ConfigMapKeyRef, ProviderRef } from '../../kinds/resources/references.ts'
import { field } from '../../schema/field.ts'
import { ListQuery, listOf } from '../resources/list.ts'
import { defineCreate, defineDelete, defineGet, defineObjectList, defineUpdate } from '../resources/resource-routes.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

const routesAt = { tag: 'Agents', base: '/api/v1/agents', noun: 'an agent' }

export const createAgent = defineCreate('Agent', routesAt)
export const listAgents = defineObjectList('Agent', routesAt)
export const getAgent = defineGet('Agent', routesAt, Agent)
export const updateAgent = defineUpdate('Agent', routesAt)
export const deleteAgent = defineDelete('Agent', routesAt)

/** How many versions of an agent are kept, and the bytes of all of them. */
export const agentVersionLimits = { versions: 100, bytes: 4_194_304 } as const

const names = (description: string, example: string[]) => field(z.array(z.string()).optional(), description, example)

/** What an agent tells its model, and which model that is. */
export const AgentVersionContent = z
  .object({
    prompt: field(
      z.string().optional(),
      'The system prompt. Absent: there is none, or it comes from a ConfigMap that the caller may not read.',
      'You are a careful reviewer.',
    ),
    promptFrom: field(ConfigMapKeyRef.optional(), 'Entry of a ConfigMap that the prompt was read from.'),
    providerRef: field(ProviderRef.optional(), 'Provider that the agent names.'),
    model: field(AgentModel.optional(), 'Model and its settings.'),
    program: field(z.string().optional(), 'Agent program; absent: a model with the tools of the service.', 'llma-cli'),
    tools: names('Tools that are enabled, by name.', ['web_fetch']),
    skills: names('Skills by name; a text of a ConfigMap by the names of map and entry.', ['release-notes']),
  })
  .meta({ id: 'AgentVersionContent' })
export type AgentVersionContent = z.infer<typeof AgentVersionContent>

/** A version of an agent. */
export const AgentVersion = z
  .object({
    number: field(z.int().min(1), 'Number of the version, from 1.', 3),
    since: field(Timestamp, 'When the service saw it; of an agent that was never changed, when that was created.'),
    generation: field(z.int().min(0), 'The `metadata.generation` in which it was first seen.', 4),
    content: field(AgentVersionContent, 'What it tells its model.'),
  })
  .meta({ id: 'AgentVersion' })
export type AgentVersion = z.infer<typeof AgentVersion>

export const listAgentVersions = routesOf({ tag: 'Agents', kind: 'Agent' }).get('/api/v1/agents/:name/versions', {
  summary: 'Versions of an agent, newest first',
  description:
    'Lists what the agent has told its model: a new version each time that prompt, model, program, tools or skills change, whoever ' +
    `changed them. The latest ${agentVersionLimits.versions} are kept, or fewer of very long ones. They are removed with the agent.`,
  params: z.object({ name: field(Name, 'Name of the agent.', 'reviewer') }),
  query: ListQuery,
  responses: {
    ...errorResponses(404),
    200: { description: 'Versions', schema: listOf(AgentVersion, 'AgentVersionList') },
  },
})
