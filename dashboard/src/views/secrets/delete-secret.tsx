import { useState } from 'react'
import { deleteSecret, type SecretItem } from '../../../../src/contract/api/resources/secrets.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'

export function DeleteSecret({ secret: { namespace, name } }: { secret: SecretItem }) {
  const [isAsking, setAsking] = useState(false)
  const remove = useChange(deleteSecret, 'Secret')
  function run(): void {
    const input = { params: { name }, query: { namespace } }
    const onSuccess = () => say(`The secret ${name} is deleted`)
    remove.mutate(input, { onSuccess, onError: sayFailure, onSettled: () => setAsking(false) })
  }
  return (
    <>
      <Button className="small" aria-label={`Delete ${name}`} onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete the secret ${name}?`}
          action="Delete the secret"
          isBusy={remove.isPending}
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>Its values cannot be brought back. Providers, tools and tasks that need it say that it is missing.</p>
        </Confirm>
      )}
    </>
  )
}
