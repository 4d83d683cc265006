// Labels and annotations of the service's own domain. A client may send back what it read, but only the service sets,
// changes or removes them.
import { reservedPrefix } from '../../../contract/kinds/resources/metadata.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import type { Problem } from '../../../errors.ts'

type Keys = Readonly<Record<string, string>> | undefined
type Marked = { labels?: Keys; annotations?: Keys }

const parts = ['labels', 'annotations'] as const

function findForged(part: (typeof parts)[number], written: Marked, stored: Marked | undefined): Problem[] {
  return Object.entries(written[part] ?? {})
    .filter(([key, value]) => key.startsWith(reservedPrefix) && stored?.[part]?.[key] !== value)
    .map(([key]) => ({
      path: `metadata.${part}[${JSON.stringify(key)}]`,
      message: 'is reserved for the service; remove it',
    }))
}

/** InvalidRequest for reserved labels and annotations that the stored object does not have. `what` is being written. */
export function requireOwnKeys(what: string, written: Marked, stored?: Marked): void {
  refuse(
    what,
    parts.flatMap((part) => findForged(part, written, stored)),
  )
}

/** The reserved ones, which survive a replacement. */
export function pickReserved(keys: Keys): Record<string, string> {
  return Object.fromEntries(Object.entries(keys ?? {}).filter(([key]) => key.startsWith(reservedPrefix)))
}
