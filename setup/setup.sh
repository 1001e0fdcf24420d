#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: setup.sh [newest|frameworks|spark]
#
# Makes a machine ready to build, run and test memtrace: Debian packages, a virtual environment with exactly
# the versions of its lock files, and with that environment's node the packages of package-lock.json
# (node_modules/), of which the page of a report is built and tested. Without an argument that is `.venv` (requirements.lock and
# requirements-dev.lock), for `make demo`, `make test` and CI. For `make test-all`: `newest` makes
# `.venv-newest` with the newest torch, `frameworks` makes `.venv-frameworks` with training frameworks, `spark` makes
# `.venv-spark` with Spark, which also needs a Java that this does not install.
# MEMTRACE_VENV names another folder. A second run finds everything in place and costs well under a second.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
base='' size='about 5 GB: torch and its CUDA libraries'
case ${1-} in
  "") name=.venv locks=(requirements.lock requirements-dev.lock) ;;
  newest) name=.venv-newest locks=(requirements-newest.lock requirements-dev.lock) ;;
  frameworks) name=.venv-frameworks base=$root/.venv size='half a GB' locks=(requirements-frameworks.lock) ;;
  spark) name=.venv-spark size='450 MB' locks=(requirements-spark.lock) ;;
  *)
    echo "setup: there is no environment '$1'. Give 'newest', 'frameworks', 'spark', or no argument for the usual one." >&2
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
    echo "setup: This is not Debian. Install the equivalents of setup/debian-packages.txt yourself." >&2
    return
  fi
  missing=$(missing_packages | paste -sd ' ')
  [ -z "$missing" ] && return
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      echo "setup: These Debian packages are missing: $missing" >&2
      echo "setup: Install them (apt-get install $missing), or run this again as root or with sudo." >&2
      exit 5
    fi
    as_root=(sudo)
  fi
  echo "setup: Installing Debian packages: $missing" >&2
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # a list of package names
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# Lets $venv import what `.venv` holds: the frameworks run on the very torch that `.venv` has, and a second
# copy of it and of CUDA's libraries would cost 5 GB and minutes. What pip then installs into $venv comes
# first on its path.
layer_on_base() {
  [ -z "$base" ] && return
  if [ ! -x "$base/bin/python" ]; then
    echo "setup: $name needs $base, which does not exist. Run setup/setup.sh without an argument first." >&2
    exit 5
  fi
  "$base/bin/python" -c 'import sys; print(*(p for p in sys.path if p.endswith("-packages")), sep="\n")' \
    >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth"
}

# The virtual environment is complete when its stamp equals the lock files.
make_venv() {
  local stamp=$venv/.memtrace-locks
  local files=("${locks[@]/#/$here/}")
  if [ -x "$venv/bin/python" ] && cat "${files[@]}" | cmp -s - "$stamp"; then
    return
  fi
  echo "setup: Making $venv ($size). This takes some minutes." >&2
  /usr/bin/python3 -m venv "$venv"
  layer_on_base
  local file
  for file in "${files[@]}"; do
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps -r "$file"
  done
  cat "${files[@]}" >"$stamp"
}

# The packages of node are complete when their stamp equals the lock file.
make_node_modules() {
  local lock=$root/package-lock.json stamp=$root/node_modules/.memtrace-lock
  cmp -s "$lock" "$stamp" && return
  echo "setup: Making $root/node_modules (80 MB)." >&2
  (cd "$root" && "$venv/bin/npm" ci --loglevel=error >/dev/null)
  cp "$lock" "$stamp"
}

install_packages
make_venv
if [ -x "$venv/bin/npm" ]; then
  make_node_modules
fi
