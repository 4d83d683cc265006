#!/bin/sh
# Installs the clients, agent programs, peers and generators that test/environments/programs tries, each in its newest version
# (test/clients) and, where it matters, in the oldest that is supported (test/clients/oldest); and Schemathesis, for `npm run fuzz`.
# What cannot be had is left out. Its tests are skipped, except those of agent programs, of SDKs, of MCP and of generators in a run that
# makes a report.
set -u
PATH="$(cd "$(dirname "$0")/../node_modules/.bin" && pwd):$PATH"
cd "$(dirname "$0")/../test/clients" || exit 1
node_clients() { # FOLDER
  (cd "$1" && npm install --no-audit --no-fund --no-package-lock --prefer-offline) || echo "$1: the command lines are left out" >&2
}
python_clients() { # FOLDER LIST: in a folder of their own, since they need each other's libraries in other versions
  python3 -m venv "$1" && "$1/bin/pip" install --quiet -r "$2" || echo "$2: left out" >&2
}
# Side by side: they wait for the network most of the time.
for age in . oldest; do
  node_clients "$age" &
  python_clients "$age/python" "$age/requirements.txt" &
  python_clients "$age/python-frameworks" "$age/requirements-frameworks.txt" &
done
wait
