#!/usr/bin/env bash
# Installs the model checker spin from Debian's package below the given folder, without root.
set -euo pipefail
target=$1
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  echo "Missing: spin, the model checker. Install it so that \`spin\` is on the PATH (most distributions and Homebrew have it)" >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
echo "Fetching spin"
if ! apt-get -q -q -o APT::Sandbox::User=root download spin >refused 2>&1; then
  # The machine's package lists are old or missing and cannot be updated without root, so use separate lists.
  mkdir -p lists/partial
  own=(-q -q -o APT::Sandbox::User=root -o Dir::State::lists="$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  { apt-get "${own[@]}" update && apt-get "${own[@]}" download spin; } >>refused 2>&1 || {
    cat refused >&2
    echo "Missing: spin, the model checker. Debian's packages could not be reached: install spin, so that it is on the PATH" >&2
    exit 1
  }
fi
cd - >/dev/null
mkdir -p "$target"
dpkg -x "$work"/spin_*.deb "$target"
