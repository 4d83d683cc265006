// `--plan-store none` disables plans (PLAN-015).

import type { Config } from '../config/load.ts'
import type { Records } from '../ports/index.ts'
import type { RecordStores } from '../store/records.ts'

export function choosePlans(config: Pick<Config, 'planStore'>, stores: RecordStores): Records {
  const { plans, ...records } = stores
  return config.planStore === 'none' ? records : { ...records, plans }
}
