// Names of the files that come with a command.
import { SvcError } from '../../../errors.ts'

const maxInputFiles = 64

/** File names are relative and stay below the scratch folder; inside the sandbox a bad one could only harm itself. */
export function checkFileNames(names: string[]): void {
  if (names.length > maxInputFiles)
    throw new SvcError('InvalidRequest', `At most ${maxInputFiles} files can be handed to a sandbox.`)
  for (const name of names) {
    const parts = name.split('/')
    const isBad =
      name === '' || name.includes('\0') || parts.includes('..') || parts.includes('') || parts.includes('.')
    if (isBad)
      throw new SvcError(
        'InvalidRequest',
        `"${name}" is not a relative file name: use letters, digits and "/", without "..".`,
      )
  }
}
