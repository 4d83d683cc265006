// Who is signed in, for everything below.
import { createContext, useContext } from 'react'
import type { Whoami } from '../../../src/contract/api/auth.ts'

export const CallerContext = createContext<Whoami | undefined>(undefined)

export function useCaller(): Whoami {
  const caller = useContext(CallerContext)
  if (caller === undefined) throw new Error('nobody is signed in here')
  return caller
}
