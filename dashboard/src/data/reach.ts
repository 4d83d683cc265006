// Whether the service answers. Every request says so by what becomes of it; while none is answered the service is asked again and again.
import { getHealth } from '../../../src/contract/api/service/health.ts'
import { noteServiceTime } from './clock.ts'

/** `silent`: it takes connections and does not answer; `away`: nothing takes them. */
export type Reach = 'here' | 'silent' | 'away'

/** What takes longer makes the service be asked whether it is there. */
const suspiciousMs = 5000
const probe = { patienceMs: 4000, everyMs: 1500 }

let reach: Reach = 'here'
let isProbing = false
const listeners = new Set<() => void>()
const returned = new Set<() => void>()

function setReach(next: Reach): void {
  if (next === reach) return
  const isBack = next === 'here'
  reach = next
  for (const listener of listeners) listener()
  if (isBack) for (const call of returned) call()
}

export const reachState = {
  current: () => reach,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  /** Called whenever the service answers again; the function that is returned ends that. */
  onReturn(call: () => void): () => void {
    returned.add(call)
    return () => returned.delete(call)
  },
}

/** What a gateway answers in the place of a service that it does not reach. */
const isOfGateway = ({ status }: Response) => status === 502 || status === 504

async function askHealth(): Promise<Reach> {
  const patience = AbortSignal.timeout(probe.patienceMs)
  try {
    const answer = await fetch(getHealth.path, { credentials: 'omit', cache: 'no-store', signal: patience })
    return isOfGateway(answer) ? 'away' : 'here'
  } catch {
    return patience.aborted ? 'silent' : 'away'
  }
}

/** Resolves once the service answers. */
async function probeUntilHere(): Promise<void> {
  if (isProbing) return
  isProbing = true
  for (let found = await askHealth(); ; found = await askHealth()) {
    setReach(found)
    if (found === 'here') break
    await new Promise((resolve) => setTimeout(resolve, probe.everyMs))
  }
  isProbing = false
}

/** The work of a request or of loading a page: when it takes long or fails, the service is asked whether it is there. */
export async function watchReach<T>(work: () => Promise<T>): Promise<T> {
  const suspicion = setTimeout(() => void probeUntilHere(), suspiciousMs)
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) void probeUntilHere()
    throw error
  } finally {
    clearTimeout(suspicion)
  }
}

/** `fetch` for the service of this page, with nothing of the browser's own in it. */
export function fetchOfService(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return watchReach(async () => {
    const sentAt = Date.now()
    const response = await fetch(input, { ...init, credentials: 'omit', cache: 'no-store' })
    noteServiceTime(response.headers.get('date'), sentAt)
    if (isOfGateway(response)) void probeUntilHere()
    return response
  })
}
