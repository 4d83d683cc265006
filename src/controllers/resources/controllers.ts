// The catalog controllers: the current readiness of agents, providers, tools and skills.

import { createAgentController } from '../agents/agent-controller.ts'
import type { Controller } from '../engine/controller.ts'
import { createProviderControllers } from '../providers/provider-controller.ts'
import { createSkillController } from '../tools/skill-controller.ts'
import { createToolController } from '../tools/tool-controller.ts'
import type { CatalogDeps } from './settings.ts'

export function createCatalogControllers(deps: CatalogDeps): Controller[] {
  return [
    createSkillController(deps),
    createToolController(deps),
    ...createProviderControllers(deps),
    createAgentController(deps),
  ]
}
