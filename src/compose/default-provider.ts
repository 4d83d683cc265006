// On a first start with a vendor's key in the environment: a provider named `default` that refers to it.
import { environmentSecret } from '../adapters/embedded/environment-secret.ts'
import type { Config } from '../config/load.ts'
import { isSvcError } from '../errors.ts'
import type { Resources } from '../ports/resources.ts'

const families = { ANTHROPIC_API_KEY: 'llma', VENDOR_API_KEY: 'llma', OPENAI_API_KEY: 'llmo' } as const

/** Leaves a provider of that name as it is. */
export async function ensureDefaultProvider(resources: Resources, config: Config): Promise<void> {
  const [key] = config.vendorKeys
  if (key === undefined) return
  const metadata = { namespace: environmentSecret.namespace, name: 'default' }
  const spec = {
    type: families[key.name as keyof typeof families],
    secretRef: { name: environmentSecret.name, key: key.name },
    serverTools: true,
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
  }
  try {
    await resources.create('Provider', { metadata, spec })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
  }
}
