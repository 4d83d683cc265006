// The tab of an object's page that changes it.
import { Permitted } from '../../parts/permitted.tsx'
import { useParameters } from '../../parts/scope.ts'
import { say } from '../../parts/toasts.tsx'
import { ObjectEditor } from './object-editor.tsx'
import { type ObjectKind, routesOf, type StoredObject } from './object-kinds.ts'

export function EditTab({ of, object }: { of: ObjectKind; object: StoredObject }) {
  const [, change] = useParameters()
  const { metadata, spec } = object
  return (
    <Permitted to={routesOf(of.path).update} what={`change ${of.title.toLowerCase()}`}>
      <ObjectEditor
        key={metadata.name}
        of={of}
        start={{ metadata, spec }}
        stored={object}
        onSaved={() => {
          say(`${metadata.name} is saved`)
          change({ tab: '', as: '' })
        }}
      />
    </Permitted>
  )
}
