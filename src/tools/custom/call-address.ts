// The address of one call: arguments in the places that the Tool's address has for them.

import type { JsonObject } from '../../contract/schema/json.ts'
import { canBeFilled, fillPlaceholders, listPlaceholders } from '../../contract/values/address-placeholders.ts'
import { SvcError } from '../../errors.ts'

/** What becomes a step up, the folder itself or nothing would lead to another address than the author's. */
const noSegment = /^(?:\.|%2e){0,2}$/i

/**
 * The address, and the arguments that have no place in it. InvalidRequest for an argument that cannot stand where it
 * should, NotConfigured for an address that takes arguments elsewhere than in path and query.
 */
export function fillAddress(address: string, args: JsonObject): { url: string; rest: JsonObject } {
  const placed = new Set(listPlaceholders(address))
  if (placed.size === 0) return { url: address, rest: args }
  if (!canBeFilled(address)) throw new SvcError('NotConfigured', 'the address of the tool cannot take arguments')
  const [, path = '', further = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? []
  const segments = path.split('/').map((segment) => fillSegment(segment, args))
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !placed.has(name)))
  return { url: segments.join('/') + fill(further, args), rest }
}

function fill(text: string, args: JsonObject): string {
  return fillPlaceholders(text, (name) => encode(name, args[name]))
}

function fillSegment(segment: string, args: JsonObject): string {
  const filled = fill(segment, args)
  if (filled === segment || !noSegment.test(filled)) return filled
  const names = listPlaceholders(segment).join(', ')
  throw new SvcError('InvalidRequest', `${names}: cannot be ${JSON.stringify(filled)} in a path`)
}

function encode(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new SvcError('InvalidRequest', `${name}: must be a text, a number or a boolean to stand in an address`)
  }
  return encodeURIComponent(String(value).toWellFormed())
}
