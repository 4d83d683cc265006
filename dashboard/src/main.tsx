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
const signInError = await signInByAddress()
createRoot(root).render(
  <StrictMode>
    <Dashboard views={views} detailPages={detailPages} signInError={signInError} />
  </StrictMode>,
)
