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
  bind.empty(routes.savePlan, ({ caller, params, body }) => worker.savePlan(caller, params, body))
  bind.json(routes.readPlan, async ({ caller, params }) => presentPlan(await worker.readPlan(caller, params)))
}

function bindConversation(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.readTranscript, async ({ caller, params, query }) => {
    const messages = await worker.readTranscript(caller, params, query.maxMessages)
    const text = messages.map((message) => `${presentMessageLine(message)}\n`).join('')
    return { text, contentType: 'application/x-ndjson; charset=utf-8' }
  })
  bind.empty(routes.appendTranscript, ({ caller, params, body }) => worker.appendTranscript(caller, params, body))
  bind(searchNamespaceTranscripts, async ({ caller, params, query }) => {
    const hits = await worker.searchTranscripts(caller, params.namespace, query)
    return { json: hits.map(({ namespace: _own, ...hit }) => hit) }
  })
  bind.empty(keepProgramSession, ({ caller, params, query, body }) =>
    worker.keepProgramSession(caller, params, { ...body, model: query.model }),
  )
  bind.json(readProgramSession, ({ caller, params, query }) => worker.readProgramSession(caller, params, query.model))
  bind.empty(routes.sendMessage, ({ caller, params, body }) => worker.sendMessage(caller, params.namespace, body))
  bind.json(routes.readMessages, ({ caller, params, query }) => worker.readMessages(caller, params, query))
}

function bindInputs(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind(routes.readInput, async ({ caller, params }) => {
    return { stream: await worker.readInput(caller, params), contentType: 'application/octet-stream' }
  })
}

function bindRun(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  const options = { keepsText: true }
  bind.empty(
    routes.saveCheckpoint,
    ({ caller, params, request }) => worker.saveCheckpoint(caller, params, request.jsonText ?? ''),
    options,
  )
  bind.empty(
    routes.appendCheckpoint,
    ({ caller, params, query, request }) =>
      worker.appendCheckpoint(caller, params, { number: query.number, change: request.jsonText ?? '' }),
    options,
  )
  bind(routes.readCheckpoint, async ({ caller, params }) => {
    return { jsonText: await worker.readCheckpoint(caller, params) }
  })
  bind.empty(routes.submitUsage, ({ caller, params, body }) => worker.submitUsage(caller, params, body))
  bind.empty(submitEnd, ({ caller, params, body }) => worker.submitEnd(caller, params, body))
  bind.empty(reportProgress, ({ caller, params, body }) => worker.reportProgress(caller, params, body))
  bind.empty(reportSteps, ({ caller, params, body }) => worker.reportSteps(caller, params, body))
  bind.empty(reportWorkspace, ({ caller, params, body }) => worker.reportWorkspace(caller, params, body))
  bind(routes.takeToolToken, async ({ caller, params }) => {
    const json = await worker.takeToolToken(caller, params)
    return { json, headers: { 'cache-control': 'no-store' } }
  })
  bind(routes.takeLease, async ({ caller, params, body }) => {
    const provider = { namespace: params.namespace, name: params.provider }
    return { json: await worker.takeLease(caller, provider, body) }
  })
  bind.empty(routes.coolDown, ({ caller, params, body }) =>
    worker.coolDown(caller, { namespace: params.namespace, name: params.provider }, body),
  )
  bind.empty(routes.reportCalls, ({ caller, params, body }) =>
    worker.reportCalls(caller, { namespace: params.namespace, name: params.provider }, body),
  )
}

function bindCoordination(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind.json(recallForTask, ({ caller, params, body }) => worker.recallForTask(caller, params, body.args))
  bind.json(proposeForTask, ({ caller, params, body }) => worker.proposeForTask(caller, params, body))
  bind.json(coordination.delegateTask, ({ caller, params, body }) => worker.delegate(caller, params, body))
  bind.json(coordination.delegateContainer, ({ caller, params, body }) => worker.runContainer(caller, params, body))
  bind.json(coordination.waitForChildren, ({ caller, params, body }) => worker.waitFor(caller, params, body))
  bind.json(coordination.cancelChild, ({ caller, params, body }) => worker.cancelChild(caller, params, body.args))
  bind.json(coordination.createHelper, ({ caller, params, body }) => worker.createHelper(caller, params, body.args))
  bind(coordination.sendToFamily, async ({ caller, params, body: { args } }) => {
    const { namespace, taskName: fromTask } = params
    const message = { fromTask, toTask: args.to_task, content: args.content }
    const { id } = await worker.sendMessage(caller, namespace, message)
    return { json: { id } }
  })
  bind.json(coordination.askApproval, ({ caller, params, body }) => worker.askApproval(caller, params, body))
  bind.json(coordination.readInbox, ({ caller, params, body }) => worker.readMessages(caller, params, body))
  bind.json(coordination.deleteHelper, ({ caller, params, body }) => worker.deleteHelper(caller, params, body.args))
}

/** Code stops when the call that started it ends: nobody else would receive its output. */
function bindCode(bind: Bind, { usecases: { worker } }: HttpDeps): void {
  bind.json(checkCode, ({ caller, params }) => worker.checkCode(caller, params))
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
  bind.json(callCodeHost, ({ caller, params, body }) => worker.callCodeHost(caller, params, body))
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
  bind.empty(routes.submitResult, ({ caller, params, request }) =>
    worker.submitResult(caller, params, readUpload(request, routes.submitResult.bodyLimit)),
  )
  bind.empty(routes.uploadArtifact, ({ caller, params, request }) =>
    worker.uploadArtifact(caller, params, readUpload(request, routes.uploadArtifact.bodyLimit)),
  )
  bind(routes.appendLogs, async ({ caller, params, query, request }) => {
    const { body } = readUpload(request, routes.appendLogs.bodyLimit)
    await worker.appendLogs(caller, params, { body, unfinished: query.unfinished, isMarked: query.marked })
    return { empty: true }
  })
}
