import { useState } from 'react'
import { deleteToken, type TokenItem } from '../../../../src/contract/api/identity/tokens.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'

export function RevokeToken({ token: { id, name }, isOwn }: { token: TokenItem; isOwn: boolean }) {
  const [isAsking, setAsking] = useState(false)
  const revoke = useChange(deleteToken, 'Token')
  function run(): void {
    const onSuccess = () => say(`The token ${name} is revoked`)
    revoke.mutate({ params: { id } }, { onSuccess, onError: sayFailure, onSettled: () => setAsking(false) })
  }
  return (
    <>
      <Button className="small" aria-label={`Revoke ${name}`} onClick={() => setAsking(true)}>
        Revoke
      </Button>
      {isAsking && (
        <Confirm
          title={`Revoke the token ${name}?`}
          action="Revoke the token"
          isBusy={revoke.isPending}
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>Whoever uses it is refused from now on. It cannot be brought back; a new one can be made.</p>
          {isOwn && <p className="notice">You are signed in with this token: you will be signed out.</p>}
        </Confirm>
      )}
    </>
  )
}
