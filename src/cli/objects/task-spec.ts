// Changes single fields of a task that has not started.
import type { Client } from '../../client/client.ts'
import { findEntry } from './catalog.ts'
import { changeObject } from './change-object.ts'
import type { Spec } from './spec-options.ts'

type Target = { params: { id: string }; query: { namespace?: string } }

/** What changed, a line each. */
export function changeTask(
  client: Client,
  { params: { id }, query }: Target,
  change: (spec: Spec) => Spec | Promise<Spec>,
): Promise<string[]> {
  return changeObject(client, findEntry('Task'), { name: id, query }, change)
}
