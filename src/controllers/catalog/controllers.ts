// The catalog controllers: the current readiness of agents, providers, tools and skills.
import type { Controller } from '../engine/controller.ts'
import { createAgentController } from './agent-controller.ts'
import { createProviderControllers } from './provider-controller.ts'
import type { CatalogDeps } from './settings.ts'
import { createSkillController } from './skill-controller.ts'
import { createToolController } from './tool-controller.ts'

export function createCatalogControllers(deps: CatalogDeps): Controller[] {
  return [
    createSkillController(deps),
    createToolController(deps),
    ...createProviderControllers(deps),
    createAgentController(deps),
  ]
}
