#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes a machine ready to build, run and test memtrace: Debian packages and `.venv` with exactly the
# versions of requirements*.lock. One script for `make demo`, `make test` and CI. A second run finds
# everything in place and costs well under a second.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
venv=${MEMTRACE_VENV:-$root/.venv}

missing_packages() {
  local package
  while read -r package; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done <"$here/debian-packages.txt"
}

install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: this is not Debian; install the equivalents of setup/debian-packages.txt yourself" >&2
    return
  fi
  missing=$(missing_packages | paste -sd ' ')
  [ -z "$missing" ] && return
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      echo "setup: missing Debian packages: $missing" >&2
      echo "setup: install them (apt-get install $missing) or run again as root or with sudo" >&2
      exit 5
    fi
    as_root=(sudo)
  fi
  echo "setup: installing Debian packages: $missing" >&2
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # a list of package names
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# The virtual environment is complete when its stamp equals the lock files.
make_venv() {
  local stamp=$venv/.memtrace-locks
  local locks=("$here/requirements.lock" "$here/requirements-dev.lock")
  if [ -x "$venv/bin/python" ] && cat "${locks[@]}" | cmp -s - "$stamp"; then
    return
  fi
  echo "setup: making $venv (torch and its CUDA libraries: about 5 GB, some minutes)" >&2
  /usr/bin/python3 -m venv "$venv"
  local lock
  for lock in "${locks[@]}"; do
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$lock"
  done
  cat "${locks[@]}" >"$stamp"
}

install_packages
make_venv
