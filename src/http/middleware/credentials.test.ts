import { describe, expect, it } from 'vitest'
import { isSvcError } from '../../errors.ts'
import { type CredentialHeader, readCredential } from './credentials.ts'

const txn: CredentialHeader = { header: 'txn-token' }
const bearerToo: CredentialHeader = { header: 'authorization', scheme: 'Bearer' }
const ownScheme: CredentialHeader = { header: 'authorization', scheme: 'Txn' }
const named: CredentialHeader = { header: 'x-context', scheme: 'Token' }

function messageFor(headers: Record<string, string>, configured: CredentialHeader[] = []): string {
  try {
    return JSON.stringify(readCredential(headers, configured))
  } catch (error) {
    if (isSvcError(error, 'Unauthenticated')) return error.message
    throw error
  }
}

describe('the credential of a request', () => {
  it.each<[Record<string, string>, CredentialHeader[], string, string]>([
    [{ authorization: 'Bearer a' }, [], 'a', 'bearer'],
    [{ authorization: 'bEARER  a ' }, [], 'a', 'bearer'],
    [{ 'x-api-key': 'k' }, [], 'k', 'x-api-key'],
    [{ authorization: 'Bearer a', 'x-api-key': 'k' }, [], 'a', 'bearer'],
    [{ authorization: 'Bearer a', 'txn-token': 't' }, [txn], 't', 'context'],
    [{ 'x-api-key': 'k', 'txn-token': 't' }, [txn], 't', 'context'],
    [{ authorization: 'Bearer a', 'txn-token': 't' }, [], 'a', 'bearer'],
    [{ authorization: 'Bearer a' }, [txn, bearerToo], 'a', 'bearer'],
    [{ authorization: 'Txn t' }, [ownScheme], 't', 'context'],
    [{ authorization: 'Bearer a' }, [ownScheme], 'a', 'bearer'],
    [{ 'x-context': 'token t' }, [named], 't', 'context'],
    [{ authorization: '', 'x-api-key': 'k' }, [], 'k', 'x-api-key'],
  ])('in %o with %o is %s by %s [CTX-013]', (headers, configured, token, source) => {
    expect(readCredential(headers, configured)).toEqual({ token, source })
  })

  it.each<[Record<string, string>, CredentialHeader[], string]>([
    [{}, [], 'missing authorization header'],
    [{ cookie: 'token=a' }, [], 'missing authorization header'],
    [{ authorization: 'Bearer ' }, [], 'missing authorization header'],
    [{ 'x-api-key': ' ' }, [], 'missing authorization header'],
    [{ authorization: 'Basic YTpi' }, [], 'invalid authorization header format'],
    [{ authorization: 'Basic YTpi', 'x-api-key': 'k' }, [], 'invalid authorization header format'],
    [{ authorization: 'Bearera' }, [], 'invalid authorization header format'],
    [{ authorization: 'Basic YTpi' }, [bearerToo], 'invalid context token header format'],
    [{ authorization: 'Txn' }, [ownScheme], 'invalid context token header format'],
    [{ authorization: 'Txn a b' }, [ownScheme], 'invalid context token header format'],
    [{ 'x-context': 't', authorization: 'Bearer a' }, [named], 'invalid context token header format'],
  ])('in %o with %o is refused: %s', (headers, configured, message) => {
    expect(messageFor(headers, configured)).toBe(message)
  })
})
