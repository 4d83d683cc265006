// The agent programs of the running service, for those who own it.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { listOf } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

/** An agent program as the service finds it now. */
export const AgentProgramItem = z
  .object({
    name: field(z.string(), 'Runtime type, or the name of a program that was added.', 'llma-cli'),
    ready: field(z.boolean(), 'Whether tasks can run it.'),
    file: field(z.string().optional(), 'Where it was found. Absent: nowhere.', '/usr/local/bin/claude'),
    image: field(z.string().optional(), 'On a cluster: its image.', 'registry.example.com/agents/llma-cli:1'),
    version: field(z.string().optional(), 'Version that it says it has. Absent: it was not asked.', '2.1.332'),
    problem: field(
      z.string().optional(),
      'Why tasks cannot run it, and what to do, in one sentence.',
      'the program "claude" of agent runtime llma-cli is not installed; run `npm install --global @anthropic-ai/claude-code@latest` where the service runs',
    ),
  })
  .meta({ id: 'AgentProgram' })
export type AgentProgramItem = z.infer<typeof AgentProgramItem>

export const listAgentPrograms = routesOf({ tag: 'Settings', kind: 'Setting' }).list('/api/v1/agent-programs', {
  summary: 'List the programs that agents with a runtime can run',
  description:
    'Looks up every agent program where the service runs, and says which of them tasks can run, and why not the others. For owners.',
  responses: { 200: { description: 'Programs, by name', schema: listOf(AgentProgramItem, 'AgentProgramList') } },
})
