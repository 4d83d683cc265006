import { Link } from 'react-router'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'

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
