// Files that the task has left: downloaded with the credential of this session, and looked at.
import { useEffect, useState } from 'react'
import type { ArtifactItem } from '../../../../src/contract/api/tasks/task-records.ts'
import { listTaskArtifacts, listTaskInputs } from '../../../../src/contract/api/tasks/tasks.ts'
import { describeBytes } from '../../../../src/lib/bytes.ts'
import { readArtifact } from '../../data/artifacts.ts'
import { useObjectRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import type { TaskPlace } from './place.ts'
import './files-tab.css'

/** Larger files are only downloaded. */
const mostLookedAt = 10_000_000
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']
const texts = /^text\/|[/+](json|yaml|xml|javascript|x-sh|toml)\b/

/** How a file can be looked at; undefined: not at all. */
function lookOf({ contentType, size }: ArtifactItem): 'picture' | 'text' | undefined {
  const [type = ''] = contentType.split(';')
  if (size > mostLookedAt) return undefined
  if (pictures.includes(type)) return 'picture'
  return texts.test(type) ? 'text' : undefined
}

function columnsOf(place: TaskPlace, onPreview: (file: ArtifactItem) => void): Column<ArtifactItem>[] {
  const download = (file: ArtifactItem) =>
    readArtifact(place, file.filename).then(
      (content) => saveFile(file.filename.split('/').at(-1) ?? 'file', content),
      sayFailure,
    )
  return [
    { title: 'Name', width: 'minmax(120px, 2fr)', cell: ({ filename }) => <Foreign text={filename} /> },
    { title: 'Type', narrow: 'hidden', cell: ({ contentType }) => <Foreign text={contentType} most={100} /> },
    { title: 'Size', width: '90px', atEnd: true, narrow: 'hidden', cell: ({ size }) => describeBytes(size) },
    { title: 'Stored', width: '120px', atEnd: true, narrow: 'hidden', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      title: 'Open',
      width: '190px',
      atEnd: true,
      cell: (file) => (
        <>
          {lookOf(file) !== undefined && (
            <Button look="plain" onClick={() => onPreview(file)}>
              Preview
            </Button>
          )}
          <Button look="plain" onClick={() => void download(file)}>
            Download
          </Button>
        </>
      ),
    },
  ]
}

export function FilesTab({ place }: { place: TaskPlace }) {
  const files = useObjectRecord('Task', listTaskArtifacts, place)
  const [looked, setLooked] = useState<ArtifactItem>()
  if (files.error !== null) return <Failure error={files.error} retry={() => void files.refetch()} />
  if (files.data === undefined) return <Loading what="files" />
  return (
    <>
      {files.data.items.length === 0 ? (
        <Empty title="It has left no files">
          <p>
            Files of the folder that <code>artifactsDir</code> names are kept when a task ends.
          </p>
        </Empty>
      ) : (
        <Table
          label="Files"
          columns={columnsOf(place, setLooked)}
          items={files.data.items}
          keyOf={({ filename }) => filename}
          onOpen={(file) => lookOf(file) !== undefined && setLooked(file)}
        />
      )}
      <Inputs place={place} />
      {looked !== undefined && (
        <Dialog title={looked.filename} isWide onClose={() => setLooked(undefined)}>
          <Preview key={looked.filename} place={place} file={looked} />
        </Dialog>
      )}
    </>
  )
}

const inputColumns: Column<ArtifactItem>[] = [
  { title: 'Path', width: 'minmax(120px, 2fr)', cell: ({ filename }) => <Foreign text={filename} /> },
  { title: 'Size', width: '90px', atEnd: true, cell: ({ size }) => describeBytes(size) },
  { title: 'Stored', width: '120px', atEnd: true, narrow: 'hidden', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]

/** What it was given before it started. */
function Inputs({ place }: { place: TaskPlace }) {
  const inputs = useObjectRecord('Task', listTaskInputs, place)
  const items = inputs.data?.items ?? []
  if (inputs.error !== null) return <Failure error={inputs.error} retry={() => void inputs.refetch()} />
  if (items.length === 0) return null
  return (
    <section className="stack">
      <h2>Given to it</h2>
      <Table label="Files given to the task" columns={inputColumns} items={items} keyOf={({ filename }) => filename} />
    </section>
  )
}

function Preview({ place, file }: { place: TaskPlace; file: ArtifactItem }) {
  const [shown, setShown] = useState<{ text: string } | { picture: string }>()
  const [error, setError] = useState<unknown>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew for each file
  useEffect(() => {
    let address: string | undefined
    let isLeft = false
    async function load(): Promise<void> {
      const content = await readArtifact(place, file.filename)
      if (isLeft) return
      if (lookOf(file) === 'text') return setShown({ text: await content.text() })
      address = URL.createObjectURL(content)
      setShown({ picture: address })
    }
    load().catch(setError)
    return () => {
      isLeft = true
      if (address !== undefined) URL.revokeObjectURL(address)
    }
  }, [])
  if (error !== undefined) return <Failure error={error} />
  if (shown === undefined) return <Loading what="the file" />
  if ('text' in shown) return <ForeignBlock label={file.filename} text={shown.text} />
  return <img className="picture" src={shown.picture} alt={file.filename} />
}
