import { describe, expect, it } from 'vitest'
import type { Sandbox, SandboxCommand } from '../../ports/workspaces/sandbox.ts'
import type { ToolContext } from '../registry/tool.ts'
import { codeExec } from './code-exec.ts'

const ended = { exitCode: 0, signal: null, stdout: '', stderr: '', timedOut: false }

describe('code of a task', () => {
  it.each([
    [{ SVC_TRANSACTION_ID: 'txn-1' }, { SVC_TRANSACTION_ID: 'txn-1' }],
    [undefined, undefined],
  ])('has in its environment what the run gives it: %o', async (variables, env) => {
    const ran: SandboxCommand[] = []
    const sandbox: Sandbox = {
      check: async () => ({ available: true, kind: 'none', languages: ['python', 'bash'] }),
      async run(command) {
        ran.push(command)
        return { ...ended, stdoutTruncated: false, stderrTruncated: false }
      },
    }
    const context = { sandbox, sharesWorkspace: false, variables } as unknown as ToolContext
    const args = { language: 'bash', code: 'env' }
    expect(await codeExec.invoke(args, context, new AbortController().signal)).toMatchObject({ success: true })
    expect(ran.map((command) => command.env)).toEqual([env])
  })

  it('says so when what it did to the workspace could not be kept', async () => {
    const lost = { changesLost: 'afterwards there were more than 1000 files or 8 MiB' }
    const sandbox: Sandbox = {
      check: async () => ({ available: true, kind: 'pod', languages: ['bash'] }),
      run: async () => ({ ...ended, stdoutTruncated: false, stderrTruncated: false, ...lost }),
    }
    const context = { sandbox, sharesWorkspace: true, workspaceRoot: '/nowhere' } as unknown as ToolContext
    const args = { language: 'bash', code: 'true' }
    const outcome = await codeExec.invoke(args, context, new AbortController().signal)
    expect(outcome).toMatchObject({ success: true, note: expect.stringContaining(lost.changesLost) })
  })
})
