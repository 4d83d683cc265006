import { describe, expect, it } from 'vitest'
import { readEntry } from '../../lookup/entries.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import { environmentSecret, withEnvironmentSecret } from './environment-secret.ts'

const stored = (values?: Record<string, string>) =>
  ({ read: async () => values, describe: async () => undefined }) as unknown as Secrets
const keyOf = (secrets: Secrets, entry: string) =>
  readEntry(secrets, environmentSecret, { entry, owner: 'provider "default"' })
const wrap = (values: Record<string, string>, own?: Record<string, string>) =>
  withEnvironmentSecret(stored(own), values, new Date(0))

describe('a key of the shell that started the service', () => {
  it('is read as it stands there', async () => {
    expect(await keyOf(wrap({ OPENAI_API_KEY: 'k' }), 'OPENAI_API_KEY')).toMatchObject({ value: 'k' })
  })

  it.each([[{}], [{ ANTHROPIC_API_KEY: 'k' }]])(
    'that another shell lacks is said, with how to store it: %j',
    async (values) => {
      await expect(keyOf(wrap(values), 'OPENAI_API_KEY')).rejects.toThrow(
        /key of provider "default" is OPENAI_API_KEY of the shell.*`provider update default --key-from-env OPENAI_API_KEY`/,
      )
    },
  )

  it('hides no secret of that name that a person has made', async () => {
    expect(await keyOf(wrap({}, { OPENAI_API_KEY: 'own' }), 'OPENAI_API_KEY')).toMatchObject({ value: 'own' })
  })
})
