import { deleteSecret, type SecretItem } from '../../../../src/contract/api/resources/secrets.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { say } from '../../parts/toasts.tsx'

export function DeleteSecret({ secret: { namespace, name } }: { secret: SecretItem }) {
  return (
    <AskedChange
      to={deleteSecret}
      input={{ params: { name }, query: { namespace } }}
      sort="Secret"
      word="Delete"
      label={`Delete ${name}`}
      className="small"
      title={`Delete the secret ${name}?`}
      action="Delete the secret"
      onDone={() => say(`The secret ${name} is deleted`)}
    >
      <p>Its values cannot be brought back. Providers, tools and tasks that need it say that it is missing.</p>
    </AskedChange>
  )
}
