// Line drawings of 20 by 20; each stands beside a word or in a control that has a name.
const paths = {
  overview: 'M3 11h5v6H3zM12 3h5v14h-5zM3 3h5v5H3z',
  tasks: 'M4 5h12M4 10h12M4 15h8',
  chat: 'M3 4h14v9H9l-4 4v-4H3z',
  agents: 'M10 3v3M5 6h10v8H5zM8 10h.01M12 10h.01M3 9v3M17 9v3M8 17h4',
  tools: 'M12 4a4 4 0 0 0-1 6l-7 6 1 1 6-7a4 4 0 0 0 5-5l-2 2-2-1-1-2z',
  skills: 'M4 4h9l3 3v9H4zM7 9h6M7 12h6',
  providers: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01',
  sessions: 'M10 4a6 6 0 1 0 6 6M10 7v3l2 2',
  memories: 'M10 3c-4 0-6 3-5 6-2 3 0 7 4 7V3zM10 3c4 0 6 3 5 6 2 3 0 7-4 7',
  monitors: 'M6 3v14M6 5a2 2 0 1 0 0 .01M14 8v6M14 6a2 2 0 1 0 0 .01M14 14a3 3 0 0 1-3 3H6',
  scans: 'M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5zM8 10l2 2 3-4',
  workspaces: 'M3 5h5l2 2h7v9H3z',
  schedules: 'M4 5h12v11H4zM4 9h12M8 3v3M12 3v3',
  usage: 'M4 16V9M8 16V5M12 16v-8M16 16V7',
  budgets: 'M10 3a7 7 0 1 0 7 7h-7z',
  audit: 'M5 3h10v14H5zM8 7h4M8 10h4M8 13h2',
  tokens: 'M7 13a3 3 0 1 1 2-5l7 0v3h-2v2h-3v-2H9a3 3 0 0 1-2 2z',
  secrets: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3M10 12v2',
  'config-maps': 'M5 3h7l3 3v11H5zM12 3v3h3M8 10h4M8 13h4',
  settings:
    'M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2v3M10 15v3M2 10h3M15 10h3M4.5 4.5l2 2M13.5 13.5l2 2M4.5 15.5l2-2M13.5 6.5l2-2',
  menu: 'M3 5h14M3 10h14M3 15h14',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM13 13l4 4',
  light: 'M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 1v2M10 17v2M1 10h2M17 10h2',
  dark: 'M16 12A7 7 0 1 1 8 4a6 6 0 0 0 8 8z',
  leave: 'M8 4H4v12h4M8 10h9M14 7l3 3-3 3',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
