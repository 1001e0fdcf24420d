#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: wheel_sources.sh FOLDER
#
# Unpacks into FOLDER the sources of the libraries that Debian has in no form that can be linked statically into a shared
# library: Abseil, whose archives are compiled for programs only, and simdjson, which has no archive (docs/design/wheel.md). They are
# Debian's own source packages, patches included, of the mirror that this machine's apt uses. apt checks their signatures; the
# authors' archives must also be those of wheel_sources.sha256. A second run finds everything in place.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pins=$here/wheel_sources.sha256
mkdir -p "$1"
cd "$1"
cmp -s "$pins" unpacked && exit
rm -rf apt abseil simdjson
mkdir -p apt/lists/partial

# What the machine gets its binary packages from has the sources, too, but it need not be set up for them.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u >apt/sources.list
if [ ! -s apt/sources.list ]; then
  echo "wheel: apt knows no Debian packages. Run apt-get update first." >&2
  exit 5
fi
apt_options=(-o "Dir::Etc::sourcelist=$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$PWD/apt/lists" -o APT::Sandbox::User=root -qq)
apt-get "${apt_options[@]}" update
(cd apt && apt-get "${apt_options[@]}" source --download-only abseil simdjson && sha256sum --quiet --check "$pins")
for name in abseil simdjson; do
  dpkg-source --no-check -x apt/"$name"_*.dsc "$name" >/dev/null
done
rm -rf apt ./*.orig.tar.gz
cp "$pins" unpacked
