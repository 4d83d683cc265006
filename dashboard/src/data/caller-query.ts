import { useQuery } from '@tanstack/react-query'
import { getWhoami } from '../../../src/contract/api/identity/auth.ts'
import { api } from './api.ts'

/** Who is signed in here, as the service says. */
export function useCallerQuery() {
  return useQuery({ queryKey: ['caller'], queryFn: () => api().call(getWhoami) })
}
