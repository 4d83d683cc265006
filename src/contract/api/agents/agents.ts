// Agents.
import { Agent } from '../../kinds/agents/agent.ts'
import { defineCreate, defineDelete, defineGet, defineObjectList, defineUpdate } from '../resources/resource-routes.ts'

const routesAt = { tag: 'Agents', base: '/api/v1/agents', noun: 'an agent' }

export const createAgent = defineCreate('Agent', routesAt)
export const listAgents = defineObjectList('Agent', routesAt)
export const getAgent = defineGet('Agent', routesAt, Agent)
export const updateAgent = defineUpdate('Agent', routesAt)
export const deleteAgent = defineDelete('Agent', routesAt)
