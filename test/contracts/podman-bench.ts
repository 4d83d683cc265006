// A real container engine for tests: Podman's service on a socket of its own, and an image made of this machine's programs.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ContainerEngine, createContainerEngine } from '../../src/runtime/local/commands/container-engine.ts'
import { waitFor } from '../fixtures/time.ts'
import { makeFolder, removeFolder } from './embedded-bench.ts'

export type EngineBench = { engine: ContainerEngine; socket: string; image: string; close(): Promise<void> }

const programs = ['dash', 'bash', 'sleep', 'head', 'cat', 'id', 'touch', 'yes', 'mkdir', 'dirname', 'cp', 'ls', 'ln']

function runText(file: string, args: string[]): string {
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** The programs with the libraries that they are linked to, where those expect to lie. */
function fillRoot(root: string): void {
  for (const folder of ['bin', 'tmp', 'etc', 'usr/bin', 'workspace', 'proc', 'sys', 'dev', 'run'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const name of programs) {
    const program = runText('/bin/sh', ['-c', `command -v ${name}`])
    copyFileSync(program, join(root, 'bin', name))
    for (const [library] of runText('ldd', [program]).matchAll(/\/\S+/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true })
      copyFileSync(library, join(root, library))
    }
  }
  symlinkSync('dash', join(root, 'bin', 'sh'))
}

function makeImage(folder: string, image: string): void {
  const root = join(folder, 'root')
  fillRoot(root)
  runText('tar', ['-C', root, '-cf', join(folder, 'image.tar'), '.'])
  runText('podman', ['import', join(folder, 'image.tar'), image])
}

/** `folder`: where the engine leaves a file named `oom` when a container needs too much memory. */
async function startService(socket: string, folder: string): Promise<ChildProcess> {
  // runc: crun is not everywhere, and the usual limits on files and processes cannot be raised inside a container.
  const child = spawn('podman', ['--runtime', 'runc', 'system', 'service', '--time=0', `unix://${socket}`], {
    stdio: 'ignore',
    cwd: folder,
  })
  await waitFor(() => existsSync(socket), 'the engine listens')
  return child
}

/** The reason why there is no engine here, or the engine. */
export async function openPodman(): Promise<EngineBench | string> {
  const folder = makeFolder('podman-test')
  const image = `localhost/svc-test-${process.pid}:1`
  try {
    makeImage(folder, image)
    const socket = join(folder, 'engine.sock')
    const child = await startService(socket, folder)
    const close = async () => {
      runText('podman', ['rmi', '--force', image])
      child.kill()
      removeFolder(folder)
    }
    return { engine: createContainerEngine({ sockets: [socket] }), socket, image, close }
  } catch (error) {
    removeFolder(folder)
    return `no container engine can be run here: ${String((error as { stderr?: string }).stderr ?? error).slice(0, 200)}`
  }
}
