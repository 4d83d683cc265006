// On a first start with a vendor's key in the environment: creates a provider named `default` that uses it.

import type { Config } from '../config/load.ts'
import { isSvcError } from '../errors.ts'
import type { Resources } from '../ports/resources/resources.ts'
import { environmentSecret } from '../store/local/environment-secret.ts'

const families = { ANTHROPIC_API_KEY: 'llma', VENDOR_API_KEY: 'llma', OPENAI_API_KEY: 'llmo' } as const

/** Leaves an existing provider of that name unchanged, but adds a model if it has none. */
export async function ensureDefaultProvider(resources: Resources, config: Config): Promise<void> {
  const [key] = config.vendorKeys
  if (key === undefined) return
  const metadata = { namespace: environmentSecret.namespace, name: 'default' }
  const spec = {
    type: families[key.name as keyof typeof families],
    secretRef: { name: environmentSecret.name, key: key.name },
    serverTools: true,
    defaultModel: config.defaultModel,
  }
  try {
    await resources.create('Provider', { metadata, spec })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    await addModel(resources, config)
  }
}

/** `SVC_DEFAULT_MODEL` may be set later than the key. */
async function addModel(resources: Resources, { defaultModel }: Config): Promise<void> {
  const provider = await resources.get('Provider', { namespace: environmentSecret.namespace, name: 'default' })
  if (defaultModel === undefined || !provider || provider.spec.defaultModel !== undefined) return
  if (provider.spec.secretRef?.name !== environmentSecret.name) return
  await resources.update('Provider', { ...provider, spec: { ...provider.spec, defaultModel } })
}
