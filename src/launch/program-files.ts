// Where the program's own files lie: a checkout runs from src, an installed package from dist.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The package's folder. */
export const packageRoot = join(import.meta.dirname, '..', '..')
/** The file that starts the command line. */
export const launcherPath = join(packageRoot, 'bin', 'svc')
/** The built dashboard. */
export const dashboardFolder = join(packageRoot, 'dist', 'dashboard')
/** The worker program beside this very file: `.ts` in a checkout, `.js` in a package. */
export const workerProgram = join(
  import.meta.dirname,
  '..',
  `worker${import.meta.filename.endsWith('.ts') ? '.ts' : '.js'}`,
)

export const version = readVersion()

function readVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version
}
