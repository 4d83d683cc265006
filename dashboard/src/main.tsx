import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Dashboard } from './app/dashboard.tsx'
import { applyDirection } from './app/direction.ts'
import { applyTheme } from './app/theme.ts'
import { signInByAddress } from './session/sign-in-by-address.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/table.css'
import './styles/forms.css'
import './styles/direction.css'

applyTheme()
applyDirection()
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element with the id "root"')
const signInError = await signInByAddress()
createRoot(root).render(
  <StrictMode>
    <Dashboard signInError={signInError} />
  </StrictMode>,
)
