// Every kind that `svc explain` knows: those of the service, and the two of Kubernetes that are used with them.
import { ConfigMapBody } from '../api/resources/configmaps.ts'
import { SecretCreate } from '../api/resources/secrets.ts'
import { kindNames, kinds } from '../kinds/index.ts'
import { describeFields, describeKind, type KindDoc } from './field-tree.ts'

/** A kind with its names; its fields are computed on demand. */
export type ExplainedKind = {
  kind: string
  description: string
  /** All its names, in lower case. */
  words: readonly string[]
  describe(): KindDoc
}

function explainPlain(
  doc: Omit<KindDoc, 'fields'>,
  words: readonly string[],
  schema: Parameters<typeof describeFields>[0],
) {
  const { kind, description } = doc
  return { kind, description, words, describe: () => ({ ...doc, fields: describeFields(schema) }) }
}

/** In the order in which they are listed. */
export const explainedKinds: readonly ExplainedKind[] = [
  ...kindNames.map((kind) => {
    const { description, plural, singular, shortNames } = kinds[kind]
    const words = [kind.toLowerCase(), plural, singular, ...shortNames]
    return { kind, description, words, describe: () => describeKind(kind) }
  }),
  explainPlain(
    { kind: 'ConfigMap', apiVersion: 'v1', description: 'Texts that tasks, agents and skills refer to.' },
    ['configmap', 'configmaps', 'cm'],
    ConfigMapBody,
  ),
  explainPlain(
    { kind: 'Secret', apiVersion: 'v1', description: 'Keys and passwords that resources refer to; never shown again.' },
    ['secret', 'secrets'],
    SecretCreate,
  ),
]
