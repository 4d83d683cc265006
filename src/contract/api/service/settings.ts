// Settings of the running service, for those who own it.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { listOf } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

/** A setting with its value. */
export const SettingItem = z
  .object({
    name: field(z.string(), 'Name of the setting, as in the file of settings.', 'taskTtl'),
    group: field(z.string(), 'What it is about.', 'Tasks'),
    flag: field(z.string(), 'Flag that sets it.', '--task-ttl'),
    environment: field(z.string(), 'Environment variable that sets it.', 'SVC_TASK_TTL'),
    help: field(z.string(), 'What it does.', 'how long tasks are kept after they have ended'),
    value: field(z.string(), 'Its value, as it would be typed; empty: none. Secrets show `(hidden)`.', '30d'),
    source: field(z.enum(['flag', 'environment', 'file', 'default']), 'Where the value comes from.'),
    default: field(z.string(), 'Its value where none is given; empty: none.', '30d'),
    values: field(z.array(z.string()), 'The values that it may have; empty: there are others.', []),
    isSecret: field(z.boolean(), 'Whether its value is never shown.'),
  })
  .meta({ id: 'Setting' })
export type SettingItem = z.infer<typeof SettingItem>

export const listSettings = routesOf({ tag: 'Settings', kind: 'Setting' }).list('/api/v1/settings', {
  summary: 'List settings with their values and sources',
  description:
    'Lists every setting of the service that answers, with its value and where that came from. Secrets are hidden. For owners.',
  responses: { 200: { description: 'Settings, group by group', schema: listOf(SettingItem, 'SettingList') } },
})
