// The catalog controllers: the current readiness of agents, providers, tools and skills.
import { createAgentController } from '../agents/controller.ts'
import type { Controller } from '../engine/controller.ts'
import { createProviderControllers } from '../providers/controller.ts'
import { createSkillController } from '../tools/skill-controller.ts'
import { createToolController } from '../tools/tool-controller.ts'
import type { ResourceControllerDeps } from './settings.ts'

export function createResourceControllers(deps: ResourceControllerDeps): Controller[] {
  return [
    createSkillController(deps),
    createToolController(deps),
    ...createProviderControllers(deps),
    createAgentController(deps),
  ]
}
