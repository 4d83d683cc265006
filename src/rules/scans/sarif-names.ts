// What a SARIF file calls a file: the addresses of its locations, with the folders that they are relative to.
import type { JsonObject } from '../../lib/json.ts'
import { type LogRun, sarifObject, sarifText } from './sarif-log.ts'

/** `/`, a drive or a scheme. */
export const isAbsoluteName = (name: string) => /^(\/|[a-z][a-z0-9+.-]*:)/i.test(name)

/** A base may be relative to another one. */
const deepestBase = 8

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

/** A `file:` address as a path; others as they are, without escapes. */
export function readAddress(uri: string): string {
  return decode(uri.trim())
    .replaceAll('\\', '/')
    .replace(/^file:(\/\/(localhost)?(?=\/))?/i, '')
    .replace(/^\/+(?=[a-z]:(\/|$))/i, '')
}

export function joinNames(folder: string, name: string): string {
  if (folder === '' || isAbsoluteName(name)) return name
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`
}

export class SarifNames {
  readonly #run: LogRun
  readonly #bases = new Map<string, string>()
  readonly #workingFolder: string

  constructor(run: LogRun) {
    this.#run = run
    const folder = this.#spell(sarifObject(run.workingFolder))
    this.#workingFolder = isAbsoluteName(folder) ? folder : ''
  }

  #baseOf(id: string | undefined, depth: number): string {
    if (id === undefined || depth === 0) return ''
    const known = this.#bases.get(id)
    if (known !== undefined) return known
    const base = this.#spell(sarifObject(this.#run.bases[id]), depth - 1)
    this.#bases.set(id, base)
    return base
  }

  /** Relative when nothing says what its base is. */
  #spell({ uri, uriBaseId }: JsonObject, depth = deepestBase): string {
    const own = readAddress(sarifText(uri) ?? '')
    return isAbsoluteName(own) ? own : joinNames(this.#baseOf(sarifText(uriBaseId), depth), own)
  }

  /** Of an artifact location; empty when it names nothing. */
  nameOf(location: unknown): string {
    const artifact = sarifObject(location)
    const indexed =
      typeof artifact.index === 'number' ? sarifObject(this.#run.artifacts[artifact.index]).location : undefined
    const own = sarifText(artifact.uri) === undefined ? sarifObject(indexed) : artifact
    return sarifText(own.uri) === undefined ? '' : joinNames(this.#workingFolder, this.#spell(own))
  }

  /** The root of the repository, where the scanner says it; undefined unless it is absolute. */
  root(): string | undefined {
    const root = this.#spell(sarifObject(this.#run.root))
    return isAbsoluteName(root) ? root : undefined
  }
}
