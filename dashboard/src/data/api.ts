// The client of this browser's session, for everything that reads or changes.
import { type Query, QueryClient } from '@tanstack/react-query'
import { type Client, createApiClient } from '../../../src/client/client.ts'
import { isSvcError } from '../../../src/errors.ts'
import { sessions } from '../session/session.ts'
import { fetchOfService, reachState } from './reach.ts'

/** Where the service is: below a proxy its path is kept. */
export const serviceUrl = window.location.origin

const ended = 'Your session has ended. Sign in again to go on where you were.'

/** A 401 ends the session that it is about: whatever else is under way would be refused as well. */
function sendWith(token: string): typeof fetch {
  return async (input, init) => {
    const response = await fetchOfService(input, init)
    if (response.status === 401 && sessions.current()?.token === token) sessions.end(ended)
    return response
  }
}

let made: { token: string; client: Client } | undefined

/** The client of the session that is now. Work of several calls takes it once: somebody else may have signed in before it ends. */
export function api(): Client {
  const token = sessions.current()?.token ?? ''
  if (made?.token !== token)
    made = { token, client: createApiClient({ url: serviceUrl, token, fetch: sendWith(token) }) }
  return made.client
}

const mostRetries = 2

/** Refusals are final; a service that starts again is asked again. */
function shouldRetry(failures: number, error: unknown): boolean {
  return failures < mostRetries && isSvcError(error) && error.status >= 500
}

/** Nothing is asked again by the clock, or because a window is looked at: the live stream says what has changed. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 10 * 60_000,
      retry: shouldRetry,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

sessions.onOtherCaller(() => queryClient.clear())

/** What failed while the service was away is asked for again when it is back. */
const failedAway = ({ state }: Query) => state.error !== null && (!isSvcError(state.error) || state.error.status >= 500)

reachState.onReturn(() => void queryClient.refetchQueries({ predicate: failedAway }))
