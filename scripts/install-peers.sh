#!/bin/sh
# Installs the gateways that `npm run bench -- proxy` measures beside the service. What cannot be had is left out.
set -u
PATH="$(cd "$(dirname "$0")/../node_modules/.bin" && pwd):$PATH"
cd "$(dirname "$0")/../bench/peers" || exit 1
npm install --no-audit --no-fund --no-package-lock || echo "Portkey is left out" >&2
python3 -m venv python && python/bin/pip install --quiet -r requirements.txt || echo "LiteLLM is left out" >&2
