// The files of the built dashboard, each with the forms that were compressed when it was built.
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { contentTypeOf } from '../../contract/values/content-type.ts'

/** Content codings in the order of preference, and the ending of their files. */
export const codings = { br: '.br', gzip: '.gz' } as const
export type Coding = keyof typeof codings

type Form = { body: Buffer; tag: string }

export type DashboardFile = {
  contentType: string
  cacheControl: string
  plain: Form
  compressed: Partial<Record<Coding, Form>>
}

/** Path of a request (`/assets/index-1a2b.js`) to its file. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>

export const assetsPath = '/assets/'
export const indexPath = '/index.html'

/** The names of assets have a hash of what is in them. */
function cacheControlOf(path: string): string {
  return path.startsWith(assetsPath) ? 'public, max-age=31536000, immutable' : 'no-cache'
}

/** A strong tag names one form (RFC 9110 section 8.8.3.3). */
function readForm(file: string): Form {
  const body = readFileSync(file)
  return { body, tag: `"${hash('sha1', body, 'base64url')}"` }
}

function readFile(file: string, path: string): DashboardFile {
  const compressed: DashboardFile['compressed'] = {}
  for (const [coding, ending] of Object.entries(codings)) {
    if (existsSync(file + ending)) compressed[coding as Coding] = readForm(file + ending)
  }
  return { contentType: contentTypeOf(file), cacheControl: cacheControlOf(path), plain: readForm(file), compressed }
}

/** Undefined when there is no built dashboard in the folder. */
export function readDashboard(folder: string): DashboardFiles | undefined {
  if (!existsSync(join(folder, indexPath))) return undefined
  const endings = Object.values(codings)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
  const pathOf = (file: string) => `/${relative(folder, file).split(sep).join('/')}`
  return new Map(files.map((file) => [pathOf(file), readFile(file, pathOf(file))]))
}
