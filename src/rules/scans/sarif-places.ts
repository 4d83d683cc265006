// Where a result of a scanner is, as a path of the repository: scanners name files by relative references, by references to a
// base, or by absolute addresses of the machine that they ran on (SARIF 2.1.0, 3.4).
import type { JsonObject } from '../../contract/schema/json.ts'
import { asObject, asText, type LogRun } from './sarif-log.ts'
import { normalizePath } from './tree-paths.ts'

const isAbsolute = (path: string) => /^(\/|[a-z][a-z0-9+.-]*:)/i.test(path)
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
function plain(uri: string): string {
  return decode(uri)
    .replaceAll('\\', '/')
    .replace(/^file:\/\/(localhost)?(?=\/)/i, '')
    .replace(/^\/(?=[a-z]:\/)/i, '')
}

const folderOf = (path: string) => (path.endsWith('/') ? path : `${path}/`)

export class Places {
  readonly #run: LogRun
  readonly #roots: string[]
  readonly #bases = new Map<string, string>()

  /** `root`: the folder that the scanner ran in, as a person names it. */
  constructor(run: LogRun, root?: string) {
    this.#run = run
    const named = [
      root,
      this.#baseOf('%SRCROOT%'),
      ...run.roots,
      ...Object.keys(run.bases).map((id) => this.#baseOf(id)),
    ]
    const folders = named.flatMap((one) => asText(one) ?? []).map((one) => folderOf(plain(one)))
    this.#roots = [...new Set(folders)].filter((folder) => isAbsolute(folder) && folder !== '/')
  }

  #baseOf(id: string): string {
    const known = this.#bases.get(id)
    if (known !== undefined) return known
    const base = this.#resolveBase(id, deepestBase)
    this.#bases.set(id, base)
    return base
  }

  #resolveBase(id: string, depth: number): string {
    const { uri, uriBaseId } = asObject(this.#run.bases[id])
    const own = plain(asText(uri) ?? '')
    const parent = asText(uriBaseId)
    if (isAbsolute(own) || parent === undefined || depth === 0) return own === '' ? '' : folderOf(own)
    return `${this.#resolveBase(parent, depth - 1)}${folderOf(own)}`
  }

  /** Of an artifact location. Absolute, and so refused later, when it is in none of the folders that are known. */
  pathOf(location: unknown): string {
    const artifact = asObject(location)
    const indexed =
      typeof artifact.index === 'number' ? asObject(this.#run.artifacts[artifact.index]).location : undefined
    const { uri, uriBaseId }: JsonObject = asText(artifact.uri) === undefined ? asObject(indexed) : artifact
    const own = plain(asText(uri) ?? '')
    const path = isAbsolute(own) ? own : `${this.#baseOf(asText(uriBaseId) ?? '')}${own}`
    const root = this.#roots.find((one) => path.startsWith(one))
    const inner = root === undefined ? path : path.slice(root.length)
    return isAbsolute(inner) ? inner : (normalizePath(inner) ?? inner)
  }
}
