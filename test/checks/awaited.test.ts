// A refusal that waits for a capability goes when the capability comes.
import { describe, expect, it } from 'vitest'
import { type AwaitedCapability, awaitedCapabilities, awaitedFields } from '../../src/contract/awaited.ts'
import { pendingIds } from './requirement-rows.ts'

/** What the service can do as soon as it has the capability. */
const proofs: Record<AwaitedCapability, string> = {
  mcpActors: 'MCP-001',
}

describe('a capability that fields wait for', () => {
  it.each(Object.entries(proofs))(
    'is still missing: %s, which %s would prove (once it exists, remove its refusals)',
    (_name, id) => {
      expect([...pendingIds.keys()]).toContain(id)
    },
  )

  it('has fields that wait for it', () => {
    const named = new Set(awaitedFields.map(({ capability }) => capability))
    expect([...named].toSorted()).toEqual(Object.keys(awaitedCapabilities).toSorted())
  })
})
