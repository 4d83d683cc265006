// The frame of every page: its heading, which is also the title of the tab, and what can be done on it.
import { type ReactNode, useEffect } from 'react'
import './page.css'

type PageProps = { title: string; heading?: ReactNode; actions?: ReactNode; children: ReactNode }

/** `title` names the tab; `heading` replaces it on the page where it is more than words. */
export function Page({ title, heading, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · svc`
  }, [title])
  return (
    <div className="page">
      <div className="page-head">
        <h1 tabIndex={-1}>{heading ?? title}</h1>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
