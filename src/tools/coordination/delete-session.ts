import { z } from 'zod'
import { RecordName } from '../../contract/resources/metadata.ts'
import { defineTool } from '../tool.ts'
import { type CoordinationContext, namespace } from './coordination-tool.ts'

export const deleteSession = defineTool({
  name: 'delete_session',
  description: 'Deletes a session with its transcript; not the one of this conversation.',
  parameters: z.strictObject({ sessionId: RecordName, namespace }),
  repeatable: false,
  async run(args, { orchestration }: CoordinationContext) {
    await orchestration.deleteSession({ name: args.sessionId, namespace: args.namespace })
    return { success: true, data: { sessionId: args.sessionId, message: 'Session deleted' } }
  },
})
