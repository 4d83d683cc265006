// Asks the HTTP side over a socket for whatever its OpenAPI document allows and forbids: Schemathesis with all of its checks.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../src/errors.ts'
import type { Egress } from '../../src/ports/egress.ts'
import { ownerToken, startService } from '../http/service.ts'

/** Phases stop where this is over; what is left is said in the report. */
const mostSeconds = Number(process.env.SVC_FUZZ_SECONDS ?? 150)
const installed = join(import.meta.dirname, '..', 'clients', 'python', 'bin', 'schemathesis')

function findProgram(): string | undefined {
  if (existsSync(installed)) return installed
  return spawnSync('schemathesis', ['--version']).status === 0 ? 'schemathesis' : undefined
}

function readOptions(url: string): string[] {
  return [
    ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
    ...['run', `${url}/openapi.json`, '--header', `Authorization: Bearer ${ownerToken}`],
    ...['--phases', 'examples,coverage', '--max-time', String(mostSeconds), '--request-timeout', '20'],
    ...['--workers', '1', '--no-shrink', '--seed', '1', '--no-color'],
  ]
}

const refuse = () => Promise.reject(new SvcError('UpstreamFailed', 'nothing is dialled while the API is asked'))

/** Providers of the examples have addresses of others. */
const nowhere = new Proxy({}, { get: () => refuse }) as Egress

async function run(program: string): Promise<number> {
  const service = await startService({ logLevel: 'error', egress: nowhere })
  const child = spawn(program, readOptions(await service.listen()), { stdio: 'inherit' })
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
  for (const line of service.logged) process.stdout.write(line)
  await service.stop()
  return status
}

const program = findProgram()
if (program === undefined)
  console.log('Schemathesis is not installed (sh scripts/install-clients.sh): nothing was asked.')
else process.exitCode = await run(program)
