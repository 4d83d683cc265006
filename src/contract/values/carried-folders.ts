// Folders that tools can recreate; they are left out when files are copied to a task or kept from one.

const passedOver = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.npm',
  '.local',
  '.mypy_cache',
  '.pytest_cache',
  '.gradle',
])

/** Whether folders with this name are left out, at any depth. */
export function isPassedOver(folder: string): boolean {
  return passedOver.has(folder)
}
