#!/bin/sh
# Makes dashboard/inter-latin.woff2 from the font of the package: the weights that the dashboard has, and of the features those that
# text and tables need. It is 28 kB instead of 48. Run it after the version of the package has changed. It needs fonttools and brotli of Python.
set -eu
cd "$(dirname "$0")/.."
package=node_modules/@fontsource-variable/inter
letters="$(grep -o 'U+0000-00FF[^;]*' "$package/wght.css" | sed 's/U+//g')"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fonttools varLib.instancer -q "$package/files/inter-latin-wght-normal.woff2" wght=400:700 -o "$work/weights.woff2"
pyftsubset "$work/weights.woff2" --unicodes="$letters" --layout-features=kern,calt,ccmp,locl,mark,mkmk,tnum --no-hinting \
  --flavor=woff2 --output-file=dashboard/inter-latin.woff2
