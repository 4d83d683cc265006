// A provider without a model: what its vendor offers, and a person's choice, which the provider keeps.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { type ProviderTest, testProvider } from '../../contract/api/providers/providers.ts'
import type { CliCall } from '../context.ts'
import { namespaceQuery } from '../global-options.ts'
import { askNumbered } from '../output/questions.ts'
import { changeObject } from './change-object.ts'
import { findEntry } from './kinds.ts'

type Asking = CliCall & { client: Client; name: string }

const maxShown = 20
const maxNamed = 5

export function tryFreshProvider({ client, options, name }: Asking): Promise<ProviderTest> {
  return client.call(testProvider, { params: { name }, query: namespaceQuery(options) })
}

/** Asks for one of the models and stores it in the provider; undefined where nobody can be asked, or none is chosen. */
export async function offerModel(asking: Asking, models: readonly string[]): Promise<string | undefined> {
  const { client, context, options, name } = asking
  const { openPrompt, terminal } = context
  if (openPrompt === undefined || models.length === 0) return undefined
  const shown = models.slice(0, maxShown)
  const more = models.length > shown.length ? `, and ${models.length - shown.length} more` : ''
  terminal.note(`which model is ${name} to use? The vendor offers${more === '' ? '' : ` these${more}`}:`)
  const chosen = shown[(await askNumbered(shown, { terminal, openPrompt })) ?? -1]
  if (chosen === undefined) return undefined
  const ref = { name, query: namespaceQuery(options) }
  await changeObject(client, findEntry('Provider'), ref, (spec) => ({ ...spec, defaultModel: chosen }))
  terminal.note(
    `${name} uses ${chosen} from now on; \`${commandHint(`provider update ${name} --model MODEL`)}\` changes it`,
  )
  return chosen
}

/** What the vendor offers, and how one is chosen for good. */
export function adviseModel(name: string, models: readonly string[]): string {
  const update = (model: string) => `\`${commandHint(`provider update ${name} --model ${model}`)}\``
  const [first] = models
  if (first === undefined) return `name one with --model, or for good: ${update('MODEL')}`
  const all = models.length > maxNamed ? ` and others (\`${commandHint(`provider models ${name}`)}\`)` : ''
  return `it offers ${models.slice(0, maxNamed).join(', ')}${all}: name one with --model, or for good: ${update(first)}`
}
