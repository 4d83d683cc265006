// How a command reaches its pod: entirely over standard input, because the server logs the URL of an exec.

import type { SandboxCommand } from '../../ports/workspaces/sandbox.ts'
import { baseEnvironment, workspaceInside } from '../attempts/inside.ts'
import { isNode, limitHeap, limitProcess } from '../attempts/process-limits.ts'
import { packFiles } from './tar.ts'

const inputFolder = '/run/svc/input'

/** Reads the parts of the input, of known sizes, into numbered files; then runs the first one. */
const receiveScript = `number=0
for size in "$@"; do head -c "$size" > ${inputFolder}/$number || exit 125; number=$((number + 1)); done
exec /bin/sh ${inputFolder}/0`

export type Launch = { argv: string[]; input: Buffer }

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The waiting shell and its sleep, and the shell of the exec. */
const ownProcesses = 3

function limitCommand(command: SandboxCommand): string[] {
  const { limits, files = {} } = command
  const moves = Object.keys(files).map((target, index) => ({ source: `${inputFolder}/${index + 2}`, target }))
  const processLimits = {
    cpuSeconds: limits.cpuSeconds,
    fileBytes: limits.diskBytes,
    openFiles: 1024,
    processes: limits.processes + ownProcesses,
    ...(isNode(command.argv) ? {} : { addressBytes: limits.memoryBytes * 2 }),
  }
  return limitProcess(limitHeap(command.argv, limits.memoryBytes), processLimits, moves)
}

/**
 * The environment is built from scratch, because the pod's own names the cluster's services. Programs left running are
 * killed, or the exec would wait until their output is closed; the pod's first process survives (kill(2)).
 */
function makeScript(command: SandboxCommand, first: { readOnly: number; archive: number | undefined }): string {
  const environment = { ...baseEnvironment(workspaceInside), ...command.env }
  const variables = Object.entries(environment).map(([name, value]) => quote(`${name}=${value}`))
  const argv = limitCommand(command).map(quote)
  const run = `env -i ${variables.join(' ')} ${argv.join(' ')} < ${inputFolder}/1`
  const unpack = first.archive === undefined ? '' : `tar -xmf ${inputFolder}/${first.archive} || exit 125\n`
  const place = Object.keys(command.readOnlyFiles ?? {}).map((path, index) => {
    const [source, target] = [`${inputFolder}/${first.readOnly + index}`, quote(path)]
    return `mkdir -p "$(dirname ${target})" && cp ${source} ${target} && chmod 0444 ${target} || exit 125\n`
  })
  return `cd ${workspaceInside} || exit 125\n${place.join('')}${unpack}${run}\ncode=$?\nkill -9 -1 2> /dev/null\nexit $code\n`
}

export function makeLaunch(command: SandboxCommand): Launch {
  const { stdin = '', files = {}, readOnlyFiles = {}, workspaceFiles = [] } = command
  const contents = [...Object.values(files), ...Object.values(readOnlyFiles)]
  const archive = workspaceFiles.length === 0 ? [] : [packFiles(workspaceFiles)]
  const numbers = { readOnly: Object.keys(files).length + 2, archive: contents.length + 2 }
  const script = makeScript(command, archive.length === 0 ? { ...numbers, archive: undefined } : numbers)
  const parts = [...[script, stdin, ...contents].map((part) => Buffer.from(part)), ...archive]
  const sizes = parts.map((part) => String(part.length))
  return { argv: ['/bin/sh', '-c', receiveScript, 'sh', ...sizes], input: Buffer.concat(parts) }
}
