// Fields that most objects of a kind have, which a new form begins with.
import type { Fields } from '../../parts/schema-form/schema.ts'
import type { ObjectPath } from './object-kinds.ts'

export const suggestedSpecs: Partial<Record<ObjectPath, Fields>> = {
  agents: { providerRef: { name: '' }, model: { name: '' }, systemPrompt: { inline: '' } },
  providers: { secretRef: { name: '', key: 'api-key' }, defaultModel: '' },
  tools: { http: { url: '', method: 'POST' }, parameters: { type: 'object', properties: {} } },
  skills: { description: '', content: { inline: '' } },
  monitors: { agents: { reviewer: { name: '' } } },
  scans: { analysisAgentRef: { name: '' } },
}
