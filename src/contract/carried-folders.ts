// Folders that are left out where the files of a folder are carried to a task or kept of one: what tools make again by themselves.

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

/** Whether a folder of this name is left out, wherever it lies. */
export function isPassedOver(folder: string): boolean {
  return passedOver.has(folder)
}
