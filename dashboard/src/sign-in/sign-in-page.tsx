// Where one signs in: with a token, or by the link of `svc open`.
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { createApiClient } from '../../../src/client/client.ts'
import { getSignInMethods, type OidcSignIn, validateToken } from '../../../src/contract/api/identity/auth.ts'
import { isSvcError, messageOf, SvcError } from '../../../src/errors.ts'
import { serviceUrl } from '../data/api.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/states.tsx'
import { TextField } from '../parts/text-field.tsx'
import { sessions } from '../session/session.ts'
import './sign-in-page.css'

/** Undefined when the token is good; else what to say. */
async function tryToken(token: string): Promise<string | undefined> {
  // No browser sends anything else in a header.
  if (!/^[!-~]+$/.test(token)) return 'This is no token: one has no spaces, and letters without accents.'
  try {
    await createApiClient({ url: serviceUrl, token }).call(validateToken)
    return undefined
  } catch (error) {
    if (isSvcError(error, 'Unauthenticated')) return 'This token is not known here, or it has expired.'
    throw error
  }
}

/** A button for each issuer that the service names. */
function Issuers({ onFailure }: { onFailure: (error: unknown) => void }) {
  const methods = useQuery({
    queryKey: ['sign-in'],
    queryFn: () => createApiClient({ url: serviceUrl, token: '' }).call(getSignInMethods),
  })
  async function leave(method: OidcSignIn): Promise<void> {
    const { pathname, search } = window.location
    try {
      await (await import('./issuer-sign-in.ts')).beginAtIssuer(method, pathname + search)
    } catch (error) {
      onFailure(
        isSvcError(error)
          ? error
          : new SvcError('Unavailable', `${method.name} cannot be reached: ${messageOf(error)}`),
      )
    }
  }
  return methods.data?.oidc.map((method) => (
    <Button key={method.issuer} look="main" onClick={() => void leave(method)}>
      Sign in with {method.name}
    </Button>
  ))
}

export function SignInPage({ signInError }: { signInError?: unknown }) {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string>()
  const [error, setError] = useState<unknown>(signInError)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · svc'
  }, [])

  async function signIn(event: FormEvent): Promise<void> {
    event.preventDefault()
    const given = token.trim()
    if (given === '') return setProblem('Paste a token.')
    setBusy(true)
    setError(undefined)
    try {
      const refused = await tryToken(given)
      setProblem(refused)
      if (refused === undefined) sessions.begin({ token: given, source: 'token' })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form className="card stack" onSubmit={(event) => void signIn(event)}>
        <h1>Sign in</h1>
        {sessions.ending() !== undefined && <p className="notice">{sessions.ending()}</p>}
        {error !== undefined && <Failure error={error} />}
        <Issuers onFailure={setError} />
        <p>
          On the machine where the service runs, <code>svc open</code> signs you in by itself.
        </p>
        <TextField
          label="Token"
          hint="`svc token show` prints yours; `svc token create NAME` makes one for somebody else."
          problem={problem}
          className="mono"
          type="password"
          value={token}
          onText={setToken}
        />
        <Button type="submit" look="main" busy={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
