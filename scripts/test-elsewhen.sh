#!/usr/bin/env bash
# Runs a command, `npm test` unless one follows, on another day, in another time zone and another locale:
#   scripts/test-elsewhen.sh '2028-02-29 18:00' Pacific/Auckland tr_TR.UTF-8 [COMMAND...]
# In a mount namespace of its own, where every program preloads a clock that is shifted: those, too, that are started with an
# environment of their own. Needs root, a C compiler, and the locale (localedef -i tr_TR -f UTF-8 tr_TR.UTF-8).
set -euo pipefail
day=$1 zone=$2 locale=$3
shift 3
[ $# -gt 0 ] || set -- npm test
locale -a | grep -qix "${locale/UTF-8/utf8}" || { echo "there is no locale $locale: make it with localedef" >&2; exit 2; }
offset=$(($(TZ=$zone date -d "$day" +%s) - $(date +%s)))

layer=$(mktemp -d)
trap 'rm -rf "$layer"' EXIT
mkdir "$layer/upper" "$layer/work"
cc -shared -fPIC -O1 -DOFFSET="(${offset}L)" "$(dirname "$0")/shifted-clock.c" -o "$layer/upper/shifted-clock.so"
echo /etc/shifted-clock.so >"$layer/upper/ld.so.preload"
# Sandboxes show /etc to what runs in them: the clock is theirs as well.
export TZ=$zone LC_ALL=$locale LANG=$locale layer
unshare --mount bash -c 'mount --make-rprivate / &&
  mount -t overlay overlay -o "lowerdir=/etc,upperdir=$layer/upper,workdir=$layer/work" /etc && exec "$@"' - "$@"
