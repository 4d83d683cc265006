import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { failTool } from '../tool-error.ts'
import {
  type CoordinationContext,
  makeTask,
  namespace,
  omitAbsent,
  priority,
  schedule,
  timeout,
  title,
  toWorkspace,
  workspace,
} from './coordination-tool.ts'

// Programs that only make sense inside of a checked-out repository (reference 1.8).
const repositoryProgram =
  /^(go (test|build|vet|list|mod)|npm (test|run)|pnpm|yarn|make|pytest|cargo test|mvn test|gradle|git (diff|status|log))(\s|$)/
/** What comes before the program of a simple command: a shell that is given text, a change of folder, variables. */
const leadIn = /^(\S*sh\s+-\w*c\s+|cd\s+\S+$|\w+=\S*\s+)*/
/** A command that fetches or makes its own has all it needs. */
const ownRepository = /\bgit\s+(clone|init)\b/

/** Whether the command runs a program that needs a repository: what a program is told to say or read is not looked at. */
export function needsRepository(words: readonly string[]): boolean {
  const text = words.join(' ')
  if (ownRepository.test(text)) return false
  return text.split(/&&|\|\||[;|\n(){}]/).some((part) => repositoryProgram.test(part.trim().replace(leadIn, '')))
}

export const createContainerTask = defineTool({
  name: 'create_container_task',
  description:
    'Creates a task that runs a command: in the container image that is named, else as a sandboxed process. Give image or command.',
  parameters: z
    .strictObject({
      name: title,
      image: z.string().min(1).optional().describe('Container image'),
      command: z.array(z.string()).optional().describe('Program and arguments; ["sh", "-c", "..."] for shell text'),
      args: z.array(z.string()).optional(),
      workspace,
      prior_task: z.string().min(1).optional().describe('Task whose workspace this one continues'),
      timeout,
      priority,
      schedule,
      namespace,
    })
    .refine(({ image, command }) => image !== undefined || (command?.length ?? 0) > 0, {
      path: ['command'],
      message: 'is required where no image is given',
    }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    const words = [...(args.command ?? []), ...(args.args ?? [])]
    if (args.workspace === undefined && args.prior_task === undefined && needsRepository(words)) {
      return failTool('missing_workspace', 'the command needs a repository, but the task has none to work in')
    }
    const spec = omitAbsent({
      type: 'container',
      image: args.image,
      command: args.command,
      args: args.args,
      workspace: toWorkspace(args.workspace),
      priorTaskRef: args.prior_task && { name: args.prior_task },
      timeout: args.timeout,
      priority: args.priority,
      schedule: args.schedule,
    })
    return makeTask(orchestration, { namespace: args.namespace, spec })
  },
})
