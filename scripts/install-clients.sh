#!/bin/sh
# Installs the clients that test/environments/programs/proxy-clients.test.ts tries beside the SDKs of the project itself, the Claude Code
# command line and the vendors' Python SDKs; the agent programs that test/environments/programs/agent-programs.test.ts runs; the peers of
# test/environments/programs/mcp-peers.test.ts; the generators of test/environments/programs/generated-clients.test.ts; and Schemathesis, for
# `npm run fuzz`. What cannot be had is left out. Its tests are skipped, except those of agent programs, of MCP and of generators in a run that
# makes a report.
set -u
PATH="$(cd "$(dirname "$0")/../node_modules/.bin" && pwd):$PATH"
cd "$(dirname "$0")/../test/clients" || exit 1
# Side by side: both wait for the network most of the time.
{ npm install --no-audit --no-fund --no-package-lock || echo "the command lines are left out" >&2; } &
python_clients() { # FOLDER LIST: in a folder of their own, since they need each other's libraries in other versions
  python3 -m venv "$1" && "$1/bin/pip" install --quiet -r "$2" || echo "$2: left out" >&2
}
python_clients python requirements.txt &
python_clients python-oldest requirements-oldest.txt &
python_clients python-frameworks requirements-frameworks.txt &
wait
