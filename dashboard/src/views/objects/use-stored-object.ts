import { useQuery } from '@tanstack/react-query'
import { type ObjectKind, readObject } from './object-kinds.ts'

/** An object of any kind that forms change; read again when it changes. */
export function useStoredObject({ kind, path }: ObjectKind, key: { namespace: string; name: string }) {
  return useQuery({
    queryKey: ['object', kind, key.namespace, key.name],
    queryFn: () => readObject(path, key),
  })
}
