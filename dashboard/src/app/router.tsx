import { createBrowserRouter, type LoaderFunction, type RouteObject, useRouteError } from 'react-router'
import { Failure } from '../parts/states.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { Shell } from './shell.tsx'
import type { DetailPage } from './views.ts'

function routeOf({ path, load }: DetailPage): RouteObject {
  const lazy = async () => ({ Component: (await load()).default })
  return path === '' ? { index: true as const, lazy } : { path, lazy }
}

/** What a page threw: the others still work. */
function FailedPage() {
  const error = useRouteError()
  return (
    <div className="page">
      <Failure error={error} retry={() => window.location.reload()} />
    </div>
  )
}

const nothing: LoaderFunction = () => null
const HydrateFallback = () => null

/** Begins at the address that the browser shows when it is made. */
export function createRouter(pages: readonly DetailPage[]) {
  const children = [...pages.map(routeOf), { path: '*', Component: NotFoundPage }]
  return createBrowserRouter([
    {
      path: '/',
      Component: Shell,
      HydrateFallback,
      loader: nothing,
      children: [{ ErrorBoundary: FailedPage, children }],
    },
  ])
}
