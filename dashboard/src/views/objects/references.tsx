// What fields that refer to something else can name: secrets, agents, providers, tools and skills that are there.
import { listSecrets } from '../../../../src/contract/api/resources/secrets.ts'
import { listSkills } from '../../../../src/contract/api/tools/skills.ts'
import { listTools } from '../../../../src/contract/api/tools/tools.ts'
import { useObjects } from '../../data/lists.ts'
import { useRecord } from '../../data/records.ts'
import type { FormContext } from '../../parts/schema-form/form-context.ts'
import type { Fields } from '../../parts/schema-form/schema.ts'
import { useScope } from '../../parts/scope.ts'
import { SecretMaker } from './secret-maker.tsx'

/** By the names that the fields of references have. */
const referenceFields: [RegExp, 'secrets' | 'agents' | 'providers' | 'tools' | 'skills'][] = [
  [/secretRef$/i, 'secrets'],
  [/(agentRef|allowedAgents|reviewer|repairer|implementer)$/i, 'agents'],
  [/providerRef$/i, 'providers'],
  [/^tools$/, 'tools'],
  [/^skills$/, 'skills'],
]

const namesOf = (entries: readonly { name: string }[] | undefined) => entries?.map(({ name }) => name) ?? []

/** Lists that the caller may not read have nothing to choose from. */
export function useReferences(given: string | undefined): Omit<FormContext, 'problems'> {
  const { home } = useScope()
  const namespace = given === undefined || given === '' ? home : given
  const input = { query: { namespace, limit: 500 } }
  const agents = useObjects('Agent', { namespace }).items
  const providers = useObjects('Provider', { namespace }).items
  const names = {
    secrets: namesOf(useRecord('Secret', listSecrets, input).data?.items),
    tools: namesOf(useRecord('Tool', listTools, input).data?.items),
    skills: namesOf(useRecord('Skill', listSkills, input).data?.items),
    agents: namesOf(agents.map(({ metadata }) => metadata)),
    providers: namesOf(providers.map(({ metadata }) => metadata)),
  }
  const listOf = (field: string) => referenceFields.find(([pattern]) => pattern.test(field))?.[1]
  return {
    namesFor: (field) => {
      const list = listOf(field)
      return list === undefined ? [] : names[list]
    },
    helpFor: ({ field, schema, value, onChange }) =>
      listOf(field) === 'secrets' ? (
        <SecretMaker
          namespace={namespace}
          hasKey={schema.properties?.key !== undefined}
          onMade={(made) => onChange({ ...((value ?? {}) as Fields), ...made })}
        />
      ) : null,
  }
}
