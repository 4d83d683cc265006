// Every setting of the service that answers: its value, where that came from, and what it does.
import { listSettings, type SettingItem } from '../../../../src/contract/api/service/settings.ts'
import { useRecord } from '../../data/records.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import './settings.css'

const sources = ['flag', 'environment', 'file', 'default']
const tones: Record<string, Tone> = { flag: 'busy', environment: 'busy', file: 'busy' }

/** All words must occur in what is told of the setting. */
function matches(setting: SettingItem, words: readonly string[]): boolean {
  const { name, flag, environment, help, group } = setting
  const told = [name, flag, environment, help, group].join(' ').toLowerCase()
  return words.every((word) => told.includes(word))
}

function useFound(items: readonly SettingItem[]): SettingItem[] {
  const [parameters] = useParameters()
  const words = (parameters.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const source = parameters.get('source')
  return items.filter((item) => matches(item, words) && (source === null || item.source === source))
}

export default function SettingsPage() {
  const settings = useRecord('Setting', listSettings)
  const found = useFound(settings.data?.items ?? [])
  const groups = [...new Set(found.map(({ group }) => group))]
  const actions = (
    <>
      <SearchBox label="Search in settings" />
      <Choice name="source" label="Set by" values={sources} />
    </>
  )
  return (
    <Page title="Settings" actions={actions}>
      <p className="soft">
        They are read when the service starts: to change one, set its flag, its variable or its line in the file, and
        start again.
      </p>
      {settings.error !== null && <Failure error={settings.error} retry={() => void settings.refetch()} />}
      {settings.isLoading && <Loading what="settings" />}
      {settings.data !== undefined && found.length === 0 && (
        <Empty title="No setting matches">
          <p>Search for another word, or take the filter away.</p>
        </Empty>
      )}
      {groups.map((group) => (
        <section key={group} className="card" aria-label={`Settings: ${group}`}>
          <h2>{group}</h2>
          <dl className="settings">
            {found
              .filter((item) => item.group === group)
              .map((item) => (
                <Setting key={item.name} setting={item} />
              ))}
          </dl>
        </section>
      ))}
    </Page>
  )
}

function Setting({ setting }: { setting: SettingItem }) {
  const { flag, environment, help, value, source, values, default: usual } = setting
  const others = source === 'default' || usual === '' ? '' : `, by default ${usual}`
  return (
    <div className="setting">
      <dt>
        <code>{flag}</code>
        <code className="soft">{environment}</code>
      </dt>
      <dd>
        <span className="row">
          {value === '' ? <span className="soft">none</span> : <Foreign className="mono" text={value} />}
          <Badge tone={tones[source] ?? 'plain'}>{source}</Badge>
        </span>
        <span className="soft">
          {help}
          {values.length > 0 && ` (${values.join(', ')})`}
          {others}
        </span>
      </dd>
    </div>
  )
}
