// Search in transcripts.
import { searchTranscripts } from '../../../contract/api/chat/transcripts.ts'
import type { Bind } from '../../bind.ts'
import { namedNamespace } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

export function bindTranscripts(bind: Bind, { usecases }: RouteContext): void {
  bind(searchTranscripts, async ({ caller, namespace, query }) => {
    const { allNamespaces: _all, ...asked } = query
    const items = await usecases.transcripts.search(caller, { ...asked, namespace: namedNamespace({ namespace }) })
    return { json: { items, metadata: {} } }
  })
}
