import { z } from 'zod'
import { Name } from '../../contract/resources/metadata.ts'
import { defineTool } from '../tool.ts'
import { failTool } from '../tool-error.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

export const createPrMonitor = defineTool({
  name: 'create_pr_monitor',
  description: 'Sets up the repeated review of the pull requests of a repository.',
  parameters: z.strictObject({
    name: Name,
    repo_url: z.string().min(1).describe('Root address of the repository, without a credential'),
    schedule: z.string().min(1).describe('Cron expression'),
    agent_ref: z.string().min(1).describe('Agent that reviews; it coordinates and is not autonomous'),
    provider_ref: z.string().min(1).optional(),
    gitSecretRef: z.string().min(1).optional(),
    per_page: z.int().min(1).max(100).default(30),
    review_event: z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']).default('COMMENT'),
    prompt: z.string().optional(),
    namespace,
  }),
  repeatable: false,
  async run(_args, _context: CoordinationContext) {
    return failTool(
      'not_configured',
      'this service does not watch repositories yet, so no monitor was made',
      'Say so to the user; a scheduled create_ai_task can look at a public repository meanwhile.',
    )
  },
})
