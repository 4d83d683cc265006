// The doctor, with what the service would use on this machine.
import type { DoctorFinding } from '../client/machine.ts'
import type { Config } from '../config/load.ts'
import { diagnose } from '../upkeep/doctor.ts'
import { findAgents, openEngine } from './embedded-work.ts'
import { workspaceSizeOf } from './scratch.ts'

export function diagnoseMachine(config: Config, platform = process.platform): Promise<DoctorFinding[]> {
  const { programs } = findAgents(config)
  const agents = Object.entries(programs).map(([name, program]) => ({ name, found: program?.found === true }))
  return diagnose(config, { platform, engine: openEngine(config), workspaceSize: workspaceSizeOf(config), agents })
}
