// The rights of a caller that an issuer vouches for, or a refusal when there are none.
import { SvcError } from '../errors.ts'
import { findStanding, type IssuerRights, type Standing, type Vouched } from '../rules/identity/issuer-rights.ts'

/** Forbidden. */
export function requireStanding(who: Vouched, rights: IssuerRights): Standing {
  const standing = findStanding(who, rights)
  if (standing !== undefined) return standing
  const what =
    rights.cluster === undefined ? 'no group of this token has a role here' : 'its name belongs to the cluster'
  throw new SvcError('Forbidden', `the subject of this token is not allowed to use the service: ${what}`)
}
