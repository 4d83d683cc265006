// The credential of this browser. It lies in the storage of this origin, which no page of another one can read, and is sent in the
// Authorization header only: a request that another page makes carries nothing (docs/adr/0061-dashboard.md).

import { browserStore } from './browser-store.ts'

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
    const kept = JSON.parse(browserStore.get(key) ?? 'null') as Session | null
    return typeof kept?.token === 'string' ? kept : undefined
  } catch {
    return undefined
  }
}

let current = read()
/** Why the last session is over, for the sign-in page. */
let ending: string | undefined
const listeners = new Set<() => void>()
const forgetters = new Set<() => void>()

/** What belongs to the last caller goes before anybody hears of the next. */
function take(next: Session | undefined): void {
  const isOther = next?.token !== current?.token
  current = next
  if (isOther) for (const forget of forgetters) forget()
  for (const listener of listeners) listener()
}

// Another tab has signed in or out.
window.addEventListener('storage', (event) => {
  if (event.key !== key && event.key !== null) return
  take(read())
})

export const sessions = {
  current: () => current,
  ending: () => ending,
  begin(session: Session): void {
    ending = undefined
    browserStore.set(key, JSON.stringify(session))
    take(session)
  },
  /** `why` is shown where one signs in again. */
  end(why?: string): void {
    ending = why
    browserStore.remove(key)
    take(undefined)
  },
  /** `forget` is called when somebody else signs in or nobody is signed in any more: nothing of one caller is shown to the next. */
  onOtherCaller(forget: () => void): void {
    forgetters.add(forget)
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}
