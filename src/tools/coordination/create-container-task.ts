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

// Commands that only make sense inside of a checked-out repository (reference 1.8).
const needsRepository =
  /\b(go (test|build|vet|list|mod)|npm (test|run)|pnpm|yarn|make|pytest|cargo test|mvn test|gradle|git (diff|status|log))\b|go\.mod|package\.json|pyproject\.toml|cargo\.toml|makefile|\.github\/workflows/i

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
    const text = [...(args.command ?? []), ...(args.args ?? [])].join(' ')
    if (args.workspace === undefined && args.prior_task === undefined && needsRepository.test(text)) {
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
