// The shell over the exec subresource of the API server, with the rights of the service.

import type { ApiConnection } from '../../cluster/api/connection.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { execInPod } from '../code-pods/exec.ts'
import { type Pod, pods } from '../jobs/objects.ts'
import { explainFault, orAbsent } from './faults.ts'
import { createAnswerBuffer, packScript, type SandboxPlace, type SandboxShell, type ShellScript } from './shell.ts'
import { describeLate, openSession, type ShellSession, stderrBytes } from './shell-session.ts'

/** Longer than the pauses between two looks at a command. */
const usualIdleMs = 5000

export type ExecShellParts = {
  api: KubernetesApi
  connection: ApiConnection
  /** How long a shell that has nothing to do stays in its container; 5 s. */
  idleMs?: number
}

function hasEnded({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Nothing was run, or its connection was lost: is there still something to connect to? */
async function explainLoss(api: KubernetesApi, { namespace, pod: name, container }: SandboxPlace, error: unknown) {
  try {
    const pod = await orAbsent(api.request<Pod>({ verb: 'get', collection: pods, namespace, name, tries: 1 }))
    const found = pod?.status?.containerStatuses?.find((each) => each.name === container)
    if (pod === undefined || hasEnded(pod) || found?.state?.running === undefined) {
      return new WorkspaceError('WorkspaceLost', `pod ${namespace}/${name} of the sandbox is gone`, { cause: error })
    }
  } catch (fault) {
    return explainFault(fault)
  }
  if (isSvcError(error, 'Internal')) {
    const message = `programs cannot be run in the image of the sandbox, which needs /bin/sh: ${messageOf(error)}`
    return new WorkspaceError('TemplateIncompatible', message, { cause: error })
  }
  const message = `pod ${namespace}/${name} of the sandbox cannot be reached: ${messageOf(error)}`
  return new WorkspaceError('ProviderUnavailable', message, { cause: error })
}

async function explain(api: KubernetesApi, place: SandboxPlace, error: unknown): Promise<Error> {
  if (error instanceof WorkspaceError) return error
  if (isSvcError(error, 'Unavailable') || isSvcError(error, 'Internal')) return explainLoss(api, place, error)
  return new WorkspaceError('ProtocolError', `the API server cannot be understood: ${messageOf(error)}`)
}

async function exec(connection: ApiConnection, place: SandboxPlace, script: ShellScript) {
  const ending = new AbortController()
  const stdout = createAnswerBuffer(script.maxBytes, (error) => ending.abort(error))
  let stderr = ''
  const { argv, input } = packScript(script)
  const late = setTimeout(() => ending.abort(describeLate(script)), script.timeoutMs)
  const command = {
    ...place,
    argv: ['/bin/sh', '-c', ...argv],
    input,
    onStdout: stdout.take,
    onStderr(chunk: Buffer) {
      stderr = (stderr + chunk.toString('utf8')).slice(0, stderrBytes)
    },
  }
  try {
    const code = await execInPod(connection, command, ending.signal)
    return { code, stdout: stdout.read(), stderr }
  } finally {
    clearTimeout(late)
  }
}

export function createExecShell({ api, connection, idleMs = usualIdleMs }: ExecShellParts): SandboxShell {
  const sessions = new Map<string, ShellSession>()

  function open(key: string, place: SandboxPlace): ShellSession {
    const onEnd = () => {
      if (sessions.get(key) === session) sessions.delete(key)
    }
    const session = openSession({ connection, place, idleMs, onEnd })
    sessions.set(key, session)
    return session
  }

  async function runThere(place: SandboxPlace, script: ShellScript) {
    const key = [place.namespace, place.pod, place.container].join('/')
    const known = sessions.get(key)
    if (script.isAlone) known?.close()
    const isShared = !script.isAlone && known?.isBusy() !== true
    const answer = isShared ? await (known ?? open(key, place)).run(script) : undefined
    // Programs in the container may end a shell that stays there; a script can be run again.
    return answer ?? exec(connection, place, script)
  }

  return {
    async run(place, script) {
      try {
        return await runThere(place, script)
      } catch (error) {
        throw await explain(api, place, error)
      }
    },
  }
}
