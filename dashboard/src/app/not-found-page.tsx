import { Link } from 'react-router'
import { Empty } from '../parts/states.tsx'
import { Page } from './page.tsx'

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <Empty title="Nothing is at this address">
        <p>The menu lists all pages; Ctrl K finds one by its name.</p>
        <Link to="/" className="button">
          To the overview
        </Link>
      </Empty>
    </Page>
  )
}
