import { deleteToken, type TokenItem } from '../../../../src/contract/api/identity/tokens.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { say } from '../../parts/toasts.tsx'

export function RevokeToken({ token: { id, name }, isOwn }: { token: TokenItem; isOwn: boolean }) {
  return (
    <AskedChange
      to={deleteToken}
      input={{ params: { id } }}
      sort="Token"
      word="Revoke"
      label={`Revoke ${name}`}
      className="small"
      title={`Revoke the token ${name}?`}
      action="Revoke the token"
      onDone={() => say(`The token ${name} is revoked`)}
    >
      <p>Whoever uses it is refused from now on. It cannot be brought back; a new one can be made.</p>
      {isOwn && <p className="notice">You are signed in with this token: you will be signed out.</p>}
    </AskedChange>
  )
}
