import '@fontsource-variable/inter/wght.css'
import './styles/global.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Dashboard } from './app/dashboard.tsx'
import { applyDirection } from './parts/direction.ts'
import { applyTheme } from './parts/theme.ts'
import { detailPages, views } from './routes.ts'
import { signInByAddress } from './sign-in/sign-in-by-address.ts'

applyTheme()
applyDirection()
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element with the id "root"')
const drawn = createRoot(root)
// The code of a link is exchanged first; whoever has none does not see this.
drawn.render(<main className="sign-in">Signing in…</main>)
const signInError = await signInByAddress()
drawn.render(
  <StrictMode>
    <Dashboard views={views} detailPages={detailPages} signInError={signInError} />
  </StrictMode>,
)
