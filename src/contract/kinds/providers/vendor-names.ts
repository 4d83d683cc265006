// What the neutral words of vendors' APIs stand for, for people. In a file of its own because the dashboard loads it.

/** By the type of a provider. */
const vendorNames: Partial<Record<string, string>> = {
  llma: 'Anthropic',
  llmo: 'OpenAI',
  'azure-llmo': 'Azure OpenAI',
  demo: 'no language model',
}

/** `llma (Anthropic)`; a word that is none of them as it is. */
export function describeVendor(type: string): string {
  const name = vendorNames[type]
  return name === undefined ? type : `${type} (${name})`
}
