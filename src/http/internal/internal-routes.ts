// The worker API: its credentials differ from people's, and each is valid for one task attempt (AUTH-007 to AUTH-011).
import { keepProgramSession, readProgramSession } from '../../contract/api/chat/program-sessions.ts'
import { searchNamespaceTranscripts } from '../../contract/api/chat/transcripts.ts'
import { callCodeHost } from '../../contract/api/codehost/code-host-tools.ts'
import * as coordination from '../../contract/api/coordination/coordination.ts'
import { proposeForTask, recallForTask } from '../../contract/api/memory/memory-tools.ts'
import { submitEnd } from '../../contract/api/tasks/attempt-end.ts'
import * as routes from '../../contract/api/tasks/internal.ts'
import { reportProgress } from '../../contract/api/tasks/progress.ts'
import { reportSteps } from '../../contract/api/tasks/steps.ts'
import { checkCode, runCode } from '../../contract/api/workspaces/code-runs.ts'
import { reportWorkspace } from '../../contract/api/workspaces/execution-workspaces.ts'
import type { Bind } from '../bind.ts'
import type { HttpDeps } from '../deps.ts'
import { watchClient } from '../event-stream.ts'
import { presentMessageLine } from '../routes/chat/sessions.ts'
import { presentPlan } from '../routes/tasks/task-records.ts'
import { readUpload } from '../upload.ts'

function bindPlans(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.savePlan, async ({ caller, params, body }) => {
    await worker.savePlan(caller, params, body)
    return { empty: true }
  })
  bind(routes.readPlan, async ({ caller, params }) => ({ json: presentPlan(await worker.readPlan(caller, params)) }))
}

function bindConversation(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.readTranscript, async ({ caller, params, query }) => {
    const messages = await worker.readTranscript(caller, params, query.maxMessages)
    const text = messages.map((message) => `${presentMessageLine(message)}\n`).join('')
    return { text, contentType: 'application/x-ndjson; charset=utf-8' }
  })
  bind(routes.appendTranscript, async ({ caller, params, body }) => {
    await worker.appendTranscript(caller, params, body)
    return { empty: true }
  })
  bind(searchNamespaceTranscripts, async ({ caller, params, query }) => {
    const hits = await worker.searchTranscripts(caller, params.namespace, query)
    return { json: hits.map(({ namespace: _own, ...hit }) => hit) }
  })
  bind(keepProgramSession, async ({ caller, params, query, body }) => {
    await worker.keepProgramSession(caller, params, { ...body, model: query.model })
    return { empty: true }
  })
  bind(readProgramSession, async ({ caller, params, query }) => {
    return { json: await worker.readProgramSession(caller, params, query.model) }
  })
  bind(routes.sendMessage, async ({ caller, params, body }) => {
    await worker.sendMessage(caller, params.namespace, body)
    return { empty: true }
  })
  bind(routes.readMessages, async ({ caller, params, query }) => {
    return { json: await worker.readMessages(caller, params, query) }
  })
}

function bindInputs(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.readInput, async ({ caller, params }) => {
    return { stream: await worker.readInput(caller, params), contentType: 'application/octet-stream' }
  })
}

function bindRun(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  const options = { keepsText: true }
  bind(
    routes.saveCheckpoint,
    async ({ caller, params, request }) => {
      await worker.saveCheckpoint(caller, params, request.jsonText ?? '')
      return { empty: true }
    },
    options,
  )
  bind(
    routes.appendCheckpoint,
    async ({ caller, params, query, request }) => {
      await worker.appendCheckpoint(caller, params, { number: query.number, change: request.jsonText ?? '' })
      return { empty: true }
    },
    options,
  )
  bind(routes.readCheckpoint, async ({ caller, params }) => {
    return { jsonText: await worker.readCheckpoint(caller, params) }
  })
  bind(routes.submitUsage, async ({ caller, params, body }) => {
    await worker.submitUsage(caller, params, body)
    return { empty: true }
  })
  bind(submitEnd, async ({ caller, params, body }) => {
    await worker.submitEnd(caller, params, body)
    return { empty: true }
  })
  bind(reportProgress, async ({ caller, params, body }) => {
    await worker.reportProgress(caller, params, body)
    return { empty: true }
  })
  bind(reportSteps, async ({ caller, params, body }) => {
    await worker.reportSteps(caller, params, body)
    return { empty: true }
  })
  bind(reportWorkspace, async ({ caller, params, body }) => {
    await worker.reportWorkspace(caller, params, body)
    return { empty: true }
  })
  bind(routes.takeToolToken, async ({ caller, params }) => {
    const json = await worker.takeToolToken(caller, params)
    return { json, headers: { 'cache-control': 'no-store' } }
  })
  bind(routes.takeLease, async ({ caller, params, body }) => {
    const provider = { namespace: params.namespace, name: params.provider }
    return { json: await worker.takeLease(caller, provider, body) }
  })
  bind(routes.coolDown, async ({ caller, params, body }) => {
    await worker.coolDown(caller, { namespace: params.namespace, name: params.provider }, body)
    return { empty: true }
  })
  bind(routes.reportCalls, async ({ caller, params, body }) => {
    await worker.reportCalls(caller, { namespace: params.namespace, name: params.provider }, body)
    return { empty: true }
  })
}

function bindCoordination(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(recallForTask, async ({ caller, params, body }) => {
    return { json: await worker.recallForTask(caller, params, body.args) }
  })
  bind(proposeForTask, async ({ caller, params, body }) => {
    return { json: await worker.proposeForTask(caller, params, body) }
  })
  bind(coordination.delegateTask, async ({ caller, params, body }) => {
    return { json: await worker.delegate(caller, params, body) }
  })
  bind(coordination.delegateContainer, async ({ caller, params, body }) => {
    return { json: await worker.runContainer(caller, params, body) }
  })
  bind(coordination.waitForChildren, async ({ caller, params, body }) => {
    return { json: await worker.waitFor(caller, params, body) }
  })
  bind(coordination.cancelChild, async ({ caller, params, body }) => {
    return { json: await worker.cancelChild(caller, params, body.args) }
  })
  bind(coordination.createHelper, async ({ caller, params, body }) => {
    return { json: await worker.createHelper(caller, params, body.args) }
  })
  bind(coordination.sendToFamily, async ({ caller, params, body: { args } }) => {
    const { namespace, taskName: fromTask } = params
    const message = { fromTask, toTask: args.to_task, content: args.content }
    const { id } = await worker.sendMessage(caller, namespace, message)
    return { json: { id } }
  })
  bind(coordination.askApproval, async ({ caller, params, body }) => {
    return { json: await worker.askApproval(caller, params, body) }
  })
  bind(coordination.readInbox, async ({ caller, params, body }) => {
    return { json: await worker.readMessages(caller, params, body) }
  })
  bind(coordination.deleteHelper, async ({ caller, params, body }) => {
    return { json: await worker.deleteHelper(caller, params, body.args) }
  })
}

/** Code stops when the call that started it ends: nobody else would receive its output. */
function bindCode(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(checkCode, async ({ caller, params }) => ({ json: await worker.checkCode(caller, params) }))
  bind(runCode, async ({ caller, params, body, request }) => {
    const client = watchClient(request)
    try {
      return { json: await worker.runCode(caller, params, body, client.signal) }
    } finally {
      client.release()
    }
  })
}

/** A call goes on when its worker goes away: it may change something, and its outcome is looked for later. */
function bindCodeHost(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(callCodeHost, async ({ caller, params, body }) => {
    return { json: await worker.callCodeHost(caller, params, body) }
  })
}

export function bindInternalRoutes(bind: Bind, deps: HttpDeps): void {
  bindPlans(bind, deps)
  bindCodeHost(bind, deps)
  bindInputs(bind, deps)
  bindConversation(bind, deps)
  bindRun(bind, deps)
  bindCode(bind, deps)
  bindCoordination(bind, deps)
}

/** Routes whose bodies are streamed. */
export function bindRawInternalRoutes(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.submitResult, async ({ caller, params, request }) => {
    await worker.submitResult(caller, params, readUpload(request, routes.submitResult.bodyLimit))
    return { empty: true }
  })
  bind(routes.uploadArtifact, async ({ caller, params, request }) => {
    await worker.uploadArtifact(caller, params, readUpload(request, routes.uploadArtifact.bodyLimit))
    return { empty: true }
  })
  bind(routes.appendLogs, async ({ caller, params, query, request }) => {
    const { body } = readUpload(request, routes.appendLogs.bodyLimit)
    await worker.appendLogs(caller, params, { body, unfinished: query.unfinished, isMarked: query.marked })
    return { empty: true }
  })
}
