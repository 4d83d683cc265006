// Providers. A Secret's values are never part of an answer.
import { Provider } from '../resources/provider.ts'
import { defineCreate, defineDelete, defineGet, defineList, defineUpdate } from './resource-routes.ts'

const place = { tag: 'Providers', base: '/api/v1/providers', noun: 'a provider' }

export const createProvider = defineCreate('Provider', place)
export const listProviders = defineList('Provider', place, Provider)
export const getProvider = defineGet('Provider', place, Provider)
export const updateProvider = defineUpdate('Provider', place)
export const deleteProvider = defineDelete('Provider', place)
