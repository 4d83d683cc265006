// The neutral words for LLM vendors' APIs, and the vendor names accepted for them.
import { z } from 'zod'

/** The words as they are stored. `demo` is not a language model (PROV-014). */
export const vendorTypes = ['llma', 'llmo', 'azure-llmo', 'demo'] as const
/** The vendors' APIs. */
export type VendorType = (typeof vendorTypes)[number]

/** Vendor names accepted as input, and the word stored for each (NAME-006, NAME-009, NAME-017). */
export const vendorAliases = { anthropic: 'llma', openai: 'llmo', 'azure-openai': 'azure-llmo' } as const

type VendorInput = VendorType | keyof typeof vendorAliases

function toVendorType(word: VendorInput): VendorType {
  return (vendorAliases as Partial<Record<VendorInput, VendorType>>)[word] ?? (word as VendorType)
}

/** Every word that is read as the type. */
export function spellingsOf(type: VendorType): string[] {
  return [type, ...Object.entries(vendorAliases).flatMap(([alias, word]) => (word === type ? [alias] : []))]
}

/** Accepts a vendor word or its alias and returns the neutral word. */
export const VendorType = z
  .enum([...vendorTypes, 'anthropic', 'openai', 'azure-openai'])
  .transform(toVendorType)
  .pipe(z.enum(vendorTypes))
  .meta({ 'x-svc-aliases': vendorAliases })
