// Coordination over the worker API: every call is repeated until the service accepts it, for each names itself.
import type { createClient } from '../../client/client.ts'
import * as routes from '../../contract/api/coordination/coordination.ts'
import type { Coordination } from '../../ports/coordination/coordination.ts'

type Patiently = <T>(attempt: (signal: AbortSignal) => Promise<T>) => Promise<T>

export function createCoordinationApi(
  client: ReturnType<typeof createClient>,
  params: { namespace: string; taskName: string },
  patiently: Patiently,
): Coordination {
  return {
    delegate: (call, args) =>
      patiently((signal) => client.call(routes.delegateTask, { params, body: { call, args }, signal })),
    runContainer: (call, args) =>
      patiently((signal) => client.call(routes.delegateContainer, { params, body: { call, args }, signal })),
    waitFor: (call, args, until) =>
      patiently((signal) => client.call(routes.waitForChildren, { params, body: { call, until, args }, signal })),
    cancel: (args) => patiently((signal) => client.call(routes.cancelChild, { params, body: { args }, signal })),
    createAgent: (args) => patiently((signal) => client.call(routes.createHelper, { params, body: { args }, signal })),
    deleteAgent: (args) => patiently((signal) => client.call(routes.deleteHelper, { params, body: { args }, signal })),
    askApproval: (call, args) =>
      patiently((signal) => client.call(routes.askApproval, { params, body: { call, args }, signal })),
    send: async (args) => {
      await patiently((signal) => client.call(routes.sendToFamily, { params, body: { args }, signal }))
    },
    readMessages: (body) => patiently((signal) => client.call(routes.readInbox, { params, body, signal })),
  }
}
