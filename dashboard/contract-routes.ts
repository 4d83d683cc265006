// The dashboard uses the constants of src/contract, as every client does. A browser needs of a route only where it is, whether
// it answers JSON and which right it asks for; of the rest, lists of words and numbers. Schemas and descriptions, which the types come from, are not shipped.
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

type AnyRoute = { method: string; path: string; responses: Record<string, { schema?: unknown }>; verb?: object }

function isRoute(value: unknown): value is AnyRoute {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'responses' in value
}

/** Method, path and the right it asks for, and an empty schema for each answer that has one (src/client asks no more of it). */
function shorten({ method, path, responses, verb }: AnyRoute): object {
  const kept = Object.entries(responses).filter(([status, { schema }]) => Number(status) < 300 && schema !== undefined)
  return { method, path, responses: Object.fromEntries(kept.map(([status]) => [status, { schema: {} }])), verb }
}

/** Tells plain data, which is shipped as it is, from schemas and functions, which are not. */
function isPlain(value: unknown): boolean {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true
  if (Array.isArray(value)) return value.every(isPlain)
  const isRecord = typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
  return isRecord && Object.values(value as object).every(isPlain)
}

/** The module's routes and plain constants, as source text. */
export function writeContractModule(module: Record<string, unknown>): string {
  const lines = Object.entries(module).flatMap(([name, value]) => {
    if (isRoute(value)) return [`export const ${name} = ${JSON.stringify(shorten(value))}`]
    return isPlain(value) ? [`export const ${name} = ${JSON.stringify(value)}`] : []
  })
  return `${lines.join('\n')}\n`
}

const contractFile = /\/src\/contract\/(?:api|kinds)\/[\w/-]+\.ts$/

/** Decisions about what schemas describe, such as which role may do what: shipped as they are. */
function isPlainCode(module: Record<string, unknown>): boolean {
  return Object.values(module).every((value) => typeof value === 'function' || isPlain(value))
}

export function contractRoutes(): Plugin {
  return {
    name: 'contract-routes',
    enforce: 'pre',
    async load(id) {
      if (!contractFile.test(id)) return null
      const module = (await import(pathToFileURL(id).href)) as Record<string, unknown>
      return isPlainCode(module) ? null : writeContractModule(module)
    },
  }
}
