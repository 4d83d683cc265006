// Whether a Secret lets a reviewer reach its model, and a monitor the code host.

const vendorKeys = ['VENDOR_API_KEY', 'VENDOR_FOUNDRY_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_FOUNDRY_API_KEY']

function hasAny(values: Record<string, string>, keys: readonly string[]): boolean {
  return keys.some((key) => (values[key] ?? '').trim() !== '')
}

/** Whether one of the entries is the key of a vendor that the command line of a reviewer can call (MON-072, MON-073). */
export function hasVendorKey(values: Record<string, string>): boolean {
  return hasAny(values, vendorKeys)
}
