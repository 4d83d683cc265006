// The schemas of the kinds, as the service publishes them: read once, when the first form is opened.
import { useQuery } from '@tanstack/react-query'
import { getOpenApi } from '../../../../src/contract/api/service/health.ts'
import { api } from '../../data/api.ts'
import type { Schema } from './schema.ts'

/** What a client may send of a kind's object: metadata and spec. */
export function useManifestSchema(kind: string) {
  const document = useQuery({ queryKey: ['openapi'], queryFn: () => api().call(getOpenApi) })
  const schemas = (document.data as { components: { schemas: Record<string, Schema> } } | undefined)?.components.schemas
  return {
    schema: schemas && manifestSchema(schemas, kind),
    error: document.error,
    retry: () => void document.refetch(),
  }
}

const ownMetadata = ['name', 'namespace', 'labels', 'annotations']

function manifestSchema(schemas: Record<string, Schema>, kind: string): Schema {
  const spec = schemas[`${kind}SpecInput`] ?? schemas[`${kind}Spec`] ?? {}
  const known = Object.entries(schemas.MetadataInput?.properties ?? {}).filter(([name]) => ownMetadata.includes(name))
  const metadata = { type: 'object', required: ['name'], properties: Object.fromEntries(known) }
  return { type: 'object', required: ['metadata', 'spec'], properties: { metadata, spec } }
}
