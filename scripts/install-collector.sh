#!/bin/sh
# Builds the collector of OpenTelemetry that test/environments/programs/otlp-collector.test.ts sends to, out of parts that others wrote
# (test/clients/collector), into the folder of tools. It takes two minutes of CPU where nothing is cached, and needs Go.
set -eu
target="$HOME/.cache/svc-tools/otel-collector"
cd "$(dirname "$0")/../test/clients/collector"
[ -x "$target" ] && cmp -s go.mod "$target.mod" && exit 0
command -v go >/dev/null || { echo "Go is not installed" >&2; exit 1; }
mkdir -p "$(dirname "$target")"
# One package at a time: it is built beside other work.
go build -p 1 -o "$target.new" .
mv "$target.new" "$target"
cp go.mod "$target.mod"
