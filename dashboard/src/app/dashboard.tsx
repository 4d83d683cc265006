// The whole: who is signed in decides between the sign-in page and the views.
import { QueryClientProvider } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { RouterProvider } from 'react-router'
import { queryClient } from '../data/api.ts'
import { useCallerQuery } from '../data/caller-query.ts'
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

/** The frame is drawn at once; pages wait until it is known who is signed in. */
function SignedIn({ views, detailPages }: Pages) {
  const [router] = useState(() => createRouter([...views, ...detailPages]))
  const caller = useCallerQuery()
  return (
    <CallerContext value={caller.data}>
      <ViewsContext value={views}>
        <RouterProvider router={router} />
      </ViewsContext>
    </CallerContext>
  )
}
