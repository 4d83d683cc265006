// What an allowlist names in one word: hosts that the documentation of each registry and code host publishes.

/** `open` and `none` stand alone. */
export const networkPresets = ['packages', 'codehost', 'model', 'open', 'none'] as const
/** One of them. */
export type NetworkPreset = (typeof networkPresets)[number]

/** Whether a program can store something of its own there, where others read it. */
type PresetHosts = { what: string; hosts: readonly string[]; takesUploads: boolean }

/** Those whose hosts are the same for everybody; `takesUploads` is what docs/network.md warns of. */
export const presetHosts: Record<'packages' | 'codehost' | 'model', readonly PresetHosts[]> = {
  packages: [
    { what: 'npm', hosts: ['registry.npmjs.org', 'registry.yarnpkg.com'], takesUploads: true },
    { what: 'Node.js', hosts: ['nodejs.org'], takesUploads: false },
    { what: 'PyPI', hosts: ['pypi.org', 'files.pythonhosted.org'], takesUploads: false },
    { what: 'crates.io', hosts: ['index.crates.io', 'static.crates.io', 'crates.io'], takesUploads: true },
    { what: 'Go', hosts: ['proxy.golang.org', 'sum.golang.org', 'storage.googleapis.com'], takesUploads: true },
    { what: 'Maven Central', hosts: ['repo.maven.apache.org', 'repo1.maven.org'], takesUploads: false },
    {
      what: 'Debian and Ubuntu',
      hosts: ['deb.debian.org', 'security.debian.org', 'archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'],
      takesUploads: false,
    },
  ],
  codehost: [
    {
      what: 'GitHub',
      hosts: [
        'github.com',
        'api.github.com',
        'codeload.github.com',
        'raw.githubusercontent.com',
        'objects.githubusercontent.com',
        'media.githubusercontent.com',
        'release-assets.githubusercontent.com',
      ],
      takesUploads: true,
    },
    { what: 'GitLab', hosts: ['gitlab.com', 'registry.gitlab.com'], takesUploads: true },
    { what: 'Bitbucket', hosts: ['bitbucket.org', 'api.bitbucket.org'], takesUploads: true },
    { what: 'Codeberg', hosts: ['codeberg.org'], takesUploads: true },
  ],
  /** Of vendors; those of the providers of the namespace are added, and the proxies of the service are always reached. */
  model: [
    { what: 'Anthropic', hosts: ['api.anthropic.com'], takesUploads: true },
    { what: 'OpenAI', hosts: ['api.openai.com'], takesUploads: true },
  ],
}

/** What agent programs, and commands and containers, may reach where nobody says so, and the ports that are reached without being named. */
export const usualNetwork = {
  agents: ['model', 'codehost', 'packages'],
  commands: ['open'],
  ports: [22, 80, 443],
} as const

/** Whether an entry of an allowlist is a preset. */
export function isNetworkPreset(entry: string): entry is NetworkPreset {
  return networkPresets.some((preset) => preset === entry)
}

/** The hosts of a preset that are the same for everybody. */
export function listPresetHosts(preset: NetworkPreset): string[] {
  return preset === 'open' || preset === 'none' ? [] : presetHosts[preset].flatMap(({ hosts }) => hosts)
}
