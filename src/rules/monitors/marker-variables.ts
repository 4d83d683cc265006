// The variables of a task that say how its reviews are marked. They are for the service: no code of the task gets the keys.

export const markerVariables = {
  secret: 'SVC_PR_REVIEW_MARKER_SECRET',
  previousSecrets: 'SVC_PR_REVIEW_MARKER_PREVIOUS_SECRETS',
  trustedAuthor: 'SVC_PR_REVIEW_MARKER_TRUSTED_AUTHOR',
} as const

/** Whether the code of a task may not have the variable. */
export function isMarkerKey(name: string): boolean {
  return name === markerVariables.secret || name === markerVariables.previousSecrets
}
