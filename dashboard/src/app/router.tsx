import { useEffect } from 'react'
import { createBrowserRouter, type RouteObject, useRouteError } from 'react-router'
import { CodeNotLoaded, isOutdated, loadCode } from '../data/page-build.ts'
import { reachState } from '../data/reach.ts'
import { Failure, Loading } from '../parts/states.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { Shell } from './shell.tsx'
import type { DetailPage } from './views.ts'

function routeOf({ path, load }: DetailPage): RouteObject {
  const lazy = async () => ({ Component: (await loadCode(load)).default })
  return path === '' ? { index: true as const, lazy } : { path, lazy }
}

/** What a page threw: the others still work. */
function FailedPage() {
  const error = useRouteError()
  if (error instanceof CodeNotLoaded) return <MissingPage />
  return (
    <div className="page">
      <Failure error={error} retry={() => window.location.reload()} />
    </div>
  )
}

/** The service is away, or has another build with files of other names: the page comes when it is there. */
function MissingPage() {
  useEffect(() => {
    const stopListening = reachState.onReturn(() => window.location.reload())
    void isOutdated().then((outdated) => outdated && window.location.reload())
    return stopListening
  }, [])
  return (
    <div className="page">
      <div className="failure" role="alert">
        <strong>This page could not be loaded</strong>
        <p>The service is away or is being upgraded. The page comes by itself when the service is back.</p>
      </div>
    </div>
  )
}

function HydrateFallback() {
  return (
    <div className="page">
      <Loading what="the page" />
    </div>
  )
}

/** Begins at the address that the browser shows when it is made. */
export function createRouter(pages: readonly DetailPage[]) {
  const children = [...pages.map(routeOf), { path: '*', Component: NotFoundPage }]
  return createBrowserRouter([
    { path: '/', Component: Shell, children: [{ ErrorBoundary: FailedPage, HydrateFallback, children }] },
  ])
}
