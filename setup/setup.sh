#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: setup.sh [newest]
#
# Makes a machine ready to build, run and test memtrace: Debian packages and a virtual environment with
# exactly the versions of its lock file and of requirements-dev.lock. Without an argument that is `.venv`
# (requirements.lock), for `make demo`, `make test` and CI; `newest` makes `.venv-newest` with the newest
# torch (requirements-newest.lock), for `make test-all`. MEMTRACE_VENV names another folder. A second run
# finds everything in place and costs well under a second.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
case ${1-} in
  "") name=.venv lock=requirements.lock ;;
  newest) name=.venv-newest lock=requirements-newest.lock ;;
  *)
    echo "setup: unknown environment '$1'; it is 'newest', or nothing for the usual one" >&2
    exit 2
    ;;
esac
venv=${MEMTRACE_VENV:-$root/$name}

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
  local locks=("$here/$lock" "$here/requirements-dev.lock")
  if [ -x "$venv/bin/python" ] && cat "${locks[@]}" | cmp -s - "$stamp"; then
    return
  fi
  echo "setup: making $venv (torch and its CUDA libraries: about 5 GB, some minutes)" >&2
  /usr/bin/python3 -m venv "$venv"
  local file
  for file in "${locks[@]}"; do
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$file"
  done
  cat "${locks[@]}" >"$stamp"
}

install_packages
make_venv
