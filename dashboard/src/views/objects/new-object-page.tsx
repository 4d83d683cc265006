// The form that makes an object of the kind that the address names.
import { useLocation, useNavigate } from 'react-router'
import { Page } from '../../parts/page.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { useManifestSchema } from '../../parts/schema-form/manifest-schema.ts'
import { emptyOf, type Fields } from '../../parts/schema-form/schema.ts'
import { useScope } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { say } from '../../parts/toasts.tsx'
import { ObjectEditor } from './object-editor.tsx'
import { kindOfAddress, routesOf } from './object-kinds.ts'
import { suggestedSpecs } from './suggested-specs.ts'

export default function NewObjectPage() {
  const navigate = useNavigate()
  const { home } = useScope()
  const of = kindOfAddress(useLocation().pathname)
  const { schema, error, retry } = useManifestSchema(of.kind)
  const spec =
    schema && ({ ...(emptyOf(schema.properties?.spec ?? {}) as Fields), ...suggestedSpecs[of.path] } as Fields)
  return (
    <Page title={`New ${of.noun}`} heading={`Create ${of.noun}`}>
      {error !== null && <Failure error={error} retry={retry} />}
      {spec === undefined && error === null && <Loading what="the form" />}
      {spec !== undefined && (
        <Permitted to={routesOf(of.path).create} what={`create ${of.title.toLowerCase()}`}>
          <ObjectEditor
            of={of}
            start={{ metadata: { name: '', namespace: home }, spec }}
            onSaved={({ metadata }) => {
              say(`${metadata.name} is created`)
              void navigate(`/${of.path}/${metadata.namespace}/${metadata.name}`)
            }}
          />
        </Permitted>
      )}
    </Page>
  )
}
