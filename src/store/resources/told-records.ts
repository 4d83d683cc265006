// Record stores that tell of what they write. What belongs to one task alone is not told: its own streams report that.

import type { RecordKind } from '../../contract/api/resources/watch.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Records } from '../../ports/index.ts'
import type { RecordChange } from '../../ports/resources/retention.ts'

type Stores = Required<Omit<Records, 'changes'>>
type Writers = { [S in keyof Stores]?: Partial<Record<RecordKind, readonly (keyof Stores[S])[]>> }

/** The methods after which records of a kind are to be read again. */
const writers: Writers = {
  approvals: { Approval: ['ask', 'answer'] },
  sessions: { Session: ['ensure', 'append', 'compact', 'remove'] },
  memories: { Memory: ['create', 'change', 'setDisabled'] },
  memoryProposals: { MemoryProposal: ['create', 'review', 'apply', 'archive'], Memory: ['apply'] },
  usage: { Usage: ['record'] },
  audit: { Audit: ['append'] },
  budgets: { Budget: ['put', 'remove'] },
  scans: { Scan: ['startRun', 'changeRun', 'cutSlices', 'changeSlice', 'saveThreatModel'] },
  scanImports: { Scan: ['startImport', 'endImport'] },
  findings: { Finding: ['recordReview', 'change', 'endDismissals', 'proposePatch', 'decidePatch'] },
  monitors: {
    Monitor: [
      ...(['queueRun', 'changeRun', 'withdrawRun', 'putItem', 'addReview', 'setDismissed'] as const),
      ...(['endPublishing', 'append'] as const),
    ],
  },
  deliveries: { Delivery: ['accept', 'settle', 'postpone', 'reopen'] },
  workspaces: { Workspace: ['note', 'release', 'giveBack', 'remove'] },
  plans: { Plan: ['save'] },
  messages: { Message: ['send'] },
}

/** Namespaces that are remembered by the ids of what lies in them. */
const maxNamespaces = 10_000

type Placed = { namespace?: unknown; uid?: unknown; id?: unknown }

function listPlaced(value: unknown): Placed[] {
  return [value].flat().filter((one): one is Placed => typeof one === 'object' && one !== null)
}

/** Namespaces by uid or id, learned from calls that have both. */
function createPlaces() {
  const known = new BoundedMap<string, string>({ max: maxNamespaces })

  function learn({ namespace, uid, id }: Placed): void {
    const key = uid ?? id
    if (typeof namespace !== 'string' || typeof key !== 'string') return
    known.set(key, namespace)
  }

  return {
    /** Where a call wrote: the namespaces that it names, else the one of the id that it names; undefined: not known. */
    find(first: unknown, result: unknown): (string | undefined)[] {
      const placed = [...listPlaced(first), ...listPlaced(result)]
      placed.forEach(learn)
      const named = placed.flatMap(({ namespace }) => (typeof namespace === 'string' ? [namespace] : []))
      return named.length > 0 ? [...new Set(named)] : [typeof first === 'string' ? known.get(first) : undefined]
    },
  }
}

type Method = (...parameters: unknown[]) => Promise<unknown>
type Note = (change: RecordChange) => void

function tellAfter(store: object, method: string, tell: (first: unknown, result: unknown) => void): Method {
  const work = (store as Record<string, Method>)[method] as Method
  return async (...parameters) => {
    const result = await work(...parameters)
    tell(parameters[0], result)
    return result
  }
}

/** The stores, each of which notes what it has written. */
export function tellRecords<R extends Stores>(stores: R, note: Note): R {
  const places = createPlaces()
  const told: Record<string, object> = {}
  for (const [name, kinds] of Object.entries(writers)) {
    const store: Record<string, unknown> = { ...stores[name as keyof Stores] }
    for (const [kind, methods] of Object.entries(kinds) as [RecordKind, string[]][]) {
      for (const method of methods) {
        store[method] = tellAfter(store, method, (first, result) => {
          for (const namespace of places.find(first, result)) note({ kind, ...(namespace && { namespace }) })
        })
      }
    }
    told[name] = store
  }
  return { ...stores, ...told }
}
