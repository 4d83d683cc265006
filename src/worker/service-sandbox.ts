// The Sandbox port of a worker in a pod, and of an attempt in a runner: the service runs the code (BUILT-024).
import type { CodeOutcome, CodeRun } from '../contract/api/workspaces/code-runs.ts'
import { isSvcError } from '../errors.ts'
import type { Sandbox, SandboxCommand, SandboxOutcome, WorkspaceFile } from '../ports/workspaces/sandbox.ts'
import { carryWorkspace } from '../tools/workspaces/carried-workspace.ts'
import type { WorkerApi } from './api.ts'

type CodeApi = Pick<WorkerApi, 'checkCode' | 'runCode'>

function pack({ path, bytes }: WorkspaceFile) {
  return { path, content: Buffer.from(bytes).toString('base64') }
}

function unpack({ path, content }: { path: string; content: string }): WorkspaceFile {
  return { path, bytes: Buffer.from(content, 'base64') }
}

/** The service knows who the run belongs to. */
function packCommand({
  workspace: _,
  caller: _caller,
  files = {},
  workspaceFiles = [],
  ...command
}: SandboxCommand): CodeRun {
  const named = Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
  return { ...command, workspaceFiles: [...workspaceFiles, ...named].map(pack) }
}

function readOutcome({ changes, changesLost, exceeded, ...rest }: CodeOutcome): SandboxOutcome {
  return {
    ...rest,
    ...(exceeded !== undefined && { exceeded }),
    ...(changesLost !== undefined && { changesLost }),
    ...(changes !== undefined && { changes: { ...changes, written: changes.written.map(unpack) } }),
  }
}

async function check(api: CodeApi): ReturnType<Sandbox['check']> {
  try {
    const { languages, seesWorkspace = false } = await api.checkCode()
    return { available: true, kind: seesWorkspace ? 'service' : 'pod', languages }
  } catch (error) {
    if (!isSvcError(error, 'NotConfigured')) throw error
    return { available: false, reason: error.message, suggestion: 'Go on without running code.' }
  }
}

export function createServiceSandbox(api: CodeApi): Sandbox {
  let known: ReturnType<Sandbox['check']> | undefined
  const near: Sandbox = {
    check() {
      known ??= check(api).catch((error: unknown) => {
        known = undefined
        throw error
      })
      return known
    },
    run: async (command, signal) => readOutcome(await api.runCode(packCommand(command), signal)),
  }
  const far = carryWorkspace(near)
  return {
    check: near.check,
    async run(command, signal) {
      const state = await near.check()
      return state.available && state.kind === 'service' ? near.run(command, signal) : far.run(command, signal)
    },
  }
}
