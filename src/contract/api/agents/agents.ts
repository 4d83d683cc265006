// Agents.
import { Agent } from '../../kinds/agents/agent.ts'
import { defineCreate, defineDelete, defineGet, defineObjectList, defineUpdate } from '../resources/resource-routes.ts'

const place = { tag: 'Agents', base: '/api/v1/agents', noun: 'an agent' }

export const createAgent = defineCreate('Agent', place)
export const listAgents = defineObjectList('Agent', place)
export const getAgent = defineGet('Agent', place, Agent)
export const updateAgent = defineUpdate('Agent', place)
export const deleteAgent = defineDelete('Agent', place)
