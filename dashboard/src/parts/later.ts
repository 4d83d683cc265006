// Parts of a page whose code is fetched when they are first shown.
import { type FunctionComponent, lazy } from 'react'
import { loadCode } from '../data/page-build.ts'

/** Stands within a `Suspense`. What a link shows comes once its code is there, and until then the page stays as it is. */
export function later<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  return lazy(async () => ({ default: await loadCode(load) }))
}
