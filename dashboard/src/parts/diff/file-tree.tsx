// The changed files as a tree, each a link to its lines.
import { Foreign } from '../foreign.tsx'
import type { Folder } from './folders.ts'
import { LineCounts } from './line-counts.tsx'

type TreeProps = { root: Folder; idOf: (at: number) => string; isViewed: (at: number) => boolean }

export function FileTree(props: TreeProps) {
  return (
    <nav aria-label="Changed files" className="card diff-files">
      {props.root.name !== '' && <FolderName name={props.root.name} />}
      <Entries {...props} folder={props.root} />
    </nav>
  )
}

const FolderName = ({ name }: { name: string }) => (
  <span className="soft">
    <Foreign text={`${name}/`} most={200} />
  </span>
)

function Entries({ folder, idOf, isViewed }: Omit<TreeProps, 'root'> & { folder: Folder }) {
  return (
    <ul>
      {folder.folders.map((one) => (
        <li key={one.name}>
          <FolderName name={one.name} />
          <Entries folder={one} idOf={idOf} isViewed={isViewed} />
        </li>
      ))}
      {folder.files.map(({ name, at, file }) => (
        <li key={at} className="diff-entry" data-viewed={isViewed(at)}>
          <a href={`#${idOf(at)}`}>
            <Foreign text={name} most={200} />
          </a>
          {isViewed(at) && (
            <span className="soft">
              <span aria-hidden="true">✓</span>
              <span className="visually-hidden">viewed</span>
            </span>
          )}
          <LineCounts file={file} />
        </li>
      ))}
    </ul>
  )
}
