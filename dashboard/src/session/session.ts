// The credential of this browser. It lies in the storage of this origin, which no page of another one can read, and is sent in the
// Authorization header only: a request that another page makes carries nothing (docs/adr/0061-the-dashboard.md).

/** How it was got: from a sign-in link, typed in, or from an issuer. */
export type SessionSource = 'link' | 'token' | 'issuer'

export type Session = {
  token: string
  source: SessionSource
  /** RFC 3339; absent where the service has not said. */
  expiresAt?: string
}

const key = 'svc.session'

function read(): Session | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Session | null
    return typeof kept?.token === 'string' ? kept : undefined
  } catch {
    return undefined
  }
}

let current = read()
/** Why the last session is over, for the sign-in page. */
let ending: string | undefined
const listeners = new Set<() => void>()

function tell(): void {
  for (const listener of listeners) listener()
}

// Another tab has signed in or out.
window.addEventListener('storage', (event) => {
  if (event.key !== key && event.key !== null) return
  current = read()
  tell()
})

export const sessions = {
  current: () => current,
  ending: () => ending,
  begin(session: Session): void {
    current = session
    ending = undefined
    localStorage.setItem(key, JSON.stringify(session))
    tell()
  },
  /** `why` is shown where one signs in again. */
  end(why?: string): void {
    current = undefined
    ending = why
    localStorage.removeItem(key)
    tell()
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}
