// The address that shows two tasks beside each other.
import { namespaceOf, type Summary } from '../data/summary.ts'

const nameOf = (task: Pick<Summary, 'metadata'>) => encodeURIComponent(`${namespaceOf(task)}/${task.metadata.name}`)

/** `earlier` stands at the left. */
export function comparePath(earlier: Pick<Summary, 'metadata'>, later: Pick<Summary, 'metadata'>): string {
  return `/compare?a=${nameOf(earlier)}&b=${nameOf(later)}`
}
