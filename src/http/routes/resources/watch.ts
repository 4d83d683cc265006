// The one live stream of objects: events with the version they go up to as id, and a bookmark in silence.
import { type WatchedPosition, type WatchedRecords, watchResources } from '../../../contract/api/resources/watch.ts'
import { summarizeText } from '../../../contract/schema/summary.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { OpenedWatch, WatchedText } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import type { EventFrame } from '../../event-stream.ts'

function framePosition(event: 'synced' | 'bookmark', resourceVersion: string): EventFrame {
  const data: WatchedPosition = { resourceVersion }
  return { id: resourceVersion, event, data: JSON.stringify(data) }
}

type ObjectChange = Extract<WatchedText, { object: string }>

/** The JSON of an object as it is asked for. */
type Write = (change: ObjectChange) => string

function frameChange(text: WatchedText, position: string | undefined, write: Write): EventFrame {
  if (text.type === 'synced') return framePosition('synced', position ?? '')
  // Without an id: the version of an object is not about records.
  if (text.type === 'records') return { event: text.type, data: JSON.stringify(text.change satisfies WatchedRecords) }
  // The object is JSON already.
  const data = `{"kind":"${text.kind}","object":${write(text)}}`
  return { id: position, event: text.type, data }
}

/** The frames of a watch, and what is sent while there are none. */
function frameWatch(opened: OpenedWatch, write: Write) {
  let published: string | undefined
  async function* frames(): AsyncGenerator<EventFrame> {
    for await (const change of opened.changes) {
      published = opened.position()
      yield frameChange(change, published, write)
    }
  }
  return {
    frames: frames(),
    idle(): EventFrame | undefined {
      const position = opened.position()
      if (position === undefined || position === published) return undefined
      published = position
      return framePosition('bookmark', position)
    },
  }
}

export function bindWatch(bind: Bind, { usecases }: RouteContext): void {
  bind(watchResources, async ({ caller, namespace, query, headers }) => {
    const { kinds, allNamespaces, namespaces = [namespace], names, labelSelector, resourceVersion } = query
    const { phase, type, agent, present, search } = query
    const after = headers['last-event-id'] ?? resourceVersion
    const fields = dropUndefined({ phase, type, agent })
    const watched = allNamespaces ? undefined : namespaces
    const narrowed = { names, search, labelSelector, fields }
    const request = { kinds, ...narrowed, after, present, namespaces: watched, records: query.records }
    const open = await usecases.watch.open(caller, request)
    const write: Write = ({ kind, object }) => (query.view === 'full' ? object : summarizeText(kind, object))
    return { events: (signal) => frameWatch(open(signal), write) }
  })
}
