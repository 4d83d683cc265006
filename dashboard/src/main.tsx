import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Dashboard } from './app/dashboard.tsx'
import { applyTheme } from './app/theme.ts'
import { followSignInLink } from './session/sign-in-link.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/table.css'
import './styles/forms.css'

applyTheme()
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element with the id "root"')
const linkError = await followSignInLink()
createRoot(root).render(
  <StrictMode>
    <Dashboard linkError={linkError} />
  </StrictMode>,
)
