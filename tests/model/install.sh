#!/usr/bin/env bash
# Puts the model checker spin below the folder named, from Debian's package, without being root.
set -euo pipefail
target=$1
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  echo "Missing: spin, the model checker. Install it so that \`spin\` is on the PATH (it is in most distributions)" >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
echo "Fetching spin"
(cd "$work" && apt-get -q -q -o APT::Sandbox::User=root download spin) || {
  echo "Missing: spin, the model checker. The package lists have none: run apt-get update, or install spin" >&2
  exit 1
}
mkdir -p "$target"
dpkg -x "$work"/spin_*.deb "$target"
