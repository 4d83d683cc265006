import { createBrowserRouter, type LoaderFunction, type RouteObject, useRouteError } from 'react-router'
import { Failure } from '../parts/states.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { Shell } from './shell.tsx'
import { detailPages, type View, views } from './views.ts'

function page(path: string, load: View['load']) {
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

const pages: RouteObject[] = [
  {
    path: '/',
    Component: Shell,
    HydrateFallback: () => null,
    loader: nothing,
    children: [
      {
        ErrorBoundary: FailedPage,
        children: [
          ...views.map(({ path, load }) => page(path, load)),
          ...detailPages.map(({ path, load }) => page(path, load)),
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
]

/** Begins at the address that the browser shows when it is made. */
export const createRouter = () => createBrowserRouter(pages)
