import { useNavigate } from 'react-router'
import { createConfigMap } from '../../../../src/contract/api/resources/configmaps.ts'
import { Page } from '../../parts/page.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { useScope } from '../../parts/scope.ts'
import { ConfigMapForm } from './config-map-form.tsx'
import { configMapPath } from './config-map-path.ts'

export default function NewConfigMapPage() {
  const navigate = useNavigate()
  const { home } = useScope()
  return (
    <Page title="New config map">
      <Permitted to={createConfigMap} what="create config maps">
        <ConfigMapForm
          namespace={home}
          onSaved={(name) => void navigate(configMapPath({ namespace: home, name }))}
          onClose={() => void navigate('/config-maps')}
        />
      </Permitted>
    </Page>
  )
}
