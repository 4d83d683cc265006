#!/bin/sh
# Installs the clients that test/scenarios/proxy-clients.test.ts tries beside the SDKs of the project itself: the Claude
# Code command line and the vendors' Python SDKs; and Schemathesis, for `npm run fuzz`. What cannot be had is left out, and its
# tests are skipped.
set -u
PATH="$(cd "$(dirname "$0")/../node_modules/.bin" && pwd):$PATH"
cd "$(dirname "$0")/../test/clients" || exit 1
npm install --no-audit --no-fund --no-package-lock || echo "the command line is left out" >&2
python3 -m venv python && python/bin/pip install --quiet -r requirements.txt || echo "the Python SDKs are left out" >&2
