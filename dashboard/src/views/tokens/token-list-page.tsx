// Tokens of callers: made, shown once, revoked.
import { useState } from 'react'
import { createToken, listTokens, type TokenItem } from '../../../../src/contract/api/identity/tokens.ts'
import { useRecord } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing, wholeList } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { useCaller } from '../../session/caller.ts'
import { Offered } from '../../session/offered.tsx'
import { NewToken } from './new-token.tsx'
import { RevokeToken } from './revoke-token.tsx'

function useOwn(): (token: TokenItem) => boolean {
  const { uid } = useCaller()
  return ({ id }) => uid === id
}

function columnsFor(isOwn: (token: TokenItem) => boolean): Column<TokenItem>[] {
  return [
    {
      title: 'Name',
      width: 'minmax(150px, 1.5fr)',
      cell: (token) => (
        <>
          <Foreign text={token.name} /> {isOwn(token) && <Badge tone="busy">Yours</Badge>}
        </>
      ),
    },
    { title: 'Role', width: '90px', cell: ({ role }) => role, narrow: 'second' },
    { title: 'Namespace', cell: ({ namespace }) => namespace ?? 'all', narrow: 'hidden' },
    { title: 'Last used', width: '110px', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />, narrow: 'hidden' },
    {
      title: 'Ends',
      width: '110px',
      cell: ({ expiresAt }) => (expiresAt === undefined ? 'never' : <Ago at={expiresAt} />),
      narrow: 'hidden',
    },
    { title: 'Created', width: '110px', cell: ({ createdAt }) => <Ago at={createdAt} />, narrow: 'hidden' },
    {
      title: 'Revoke',
      width: '92px',
      atEnd: true,
      cell: (token) => <RevokeToken token={token} isOwn={isOwn(token)} />,
    },
  ]
}

export default function TokenListPage() {
  const [isMaking, setMaking] = useState(false)
  const isOwn = useOwn()
  const tokens = useRecord('Token', listTokens)
  const make = (
    <Offered to={createToken}>
      <Button look="main" onClick={() => setMaking(true)}>
        New token
      </Button>
    </Offered>
  )
  return (
    <Page title="Tokens" actions={make}>
      <Listing
        label="Tokens"
        columns={columnsFor(isOwn)}
        list={wholeList(tokens)}
        keyOf={({ id }) => id}
        fills
        empty={
          <Empty title="There are no tokens yet">
            <p>Each program and each person gets one of their own, so that one can be revoked without the others.</p>
          </Empty>
        }
      />
      {isMaking && <NewToken onClose={() => setMaking(false)} />}
    </Page>
  )
}
