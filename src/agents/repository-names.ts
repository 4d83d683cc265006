// What agent programs read in a repository that can start programs or speak to their model: settings, hooks, servers of the Model Context
// Protocol, plugins and skills, as their documentation names them. A program of which no more is known than its command may
// read any.

/** opencode's newer half runs plugins that they name even with `--pure` and OPENCODE_DISABLE_PROJECT_CONFIG. */
export const opencodeNames = ['.opencode', 'opencode.json', 'opencode.jsonc']

/** Names below a folder, any of which a program that speaks the Agent Client Protocol may heed. */
export const repositoryNames = [
  ...opencodeNames,
  // Shared by several.
  ...['.agent', '.agents', '.env', '.mcp.json', '.vscode/mcp.json', 'mcp.json'],
  ...['.aider.conf.yml', '.amazonq', '.amp', '.augment', '.claude', '.cline', '.clinerules', '.codebuddy', '.codex'],
  ...['.continue', '.copilot', '.crush', '.crush.json', 'crush.json', '.cursor', '.factory', 'fastagent.config.yaml'],
  ...['.gemini', '.goose', '.goosehints', '.hermes', '.iflow', '.junie', '.kilo', '.kilocode', '.kimi', '.kiro'],
  ...['.openhands', '.pi', '.qoder', '.qwen', '.roo', '.trae', '.vibe', '.windsurf'],
  // The rest of that folder is the code host's.
  ...['agents', 'extensions', 'hooks', 'mcp.json', 'plugins', 'skills'].map((name) => `.github/${name}`),
]
