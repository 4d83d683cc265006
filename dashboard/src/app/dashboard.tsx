// The whole: who is signed in decides between the sign-in page and the views.
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { RouterProvider } from 'react-router'
import { getWhoami } from '../../../src/contract/api/identity/auth.ts'
import { api, queryClient } from '../data/api.ts'
import { Failure } from '../parts/states.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { CallerContext } from '../session/caller.ts'
import { sessions } from '../session/session.ts'
import { SignInPage } from '../sign-in/sign-in-page.tsx'
import { createRouter } from './router.tsx'
import { type DetailPage, type View, ViewsContext } from './views.ts'

type Pages = { views: readonly View[]; detailPages: readonly DetailPage[] }

export function Dashboard({ signInError, ...pages }: Pages & { signInError?: unknown }) {
  const session = useSyncExternalStore(sessions.subscribe, sessions.current)
  return (
    <QueryClientProvider client={queryClient}>
      {session === undefined ? <SignInPage signInError={signInError} /> : <SignedIn key={session.token} {...pages} />}
      <Toasts />
    </QueryClientProvider>
  )
}

function SignedIn({ views, detailPages }: Pages) {
  const [router] = useState(() => createRouter([...views, ...detailPages]))
  const caller = useQuery({ queryKey: ['caller'], queryFn: () => api().call(getWhoami) })
  if (caller.error !== null) {
    return (
      <main className="sign-in">
        <Failure error={caller.error} retry={() => void caller.refetch()} />
      </main>
    )
  }
  if (caller.data === undefined) return null
  return (
    <CallerContext value={caller.data}>
      <ViewsContext value={views}>
        <RouterProvider router={router} />
      </ViewsContext>
    </CallerContext>
  )
}
