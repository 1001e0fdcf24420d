#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: wheel.sh VENV JOBS FOLDER
#
# Builds the wheel for other machines into FOLDER (docs/design/wheel.md), with the torch, the CUDA headers and the tools of VENV. Its
# name says the oldest glibc that it runs on, which is checked before the wheel is left there.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$(cd "$1" && pwd)
jobs=$2 folder=$3
limits=cmake/portable/limits.json
glibc=$("$venv/bin/python" -c "import json, sys; print(json.load(open(sys.argv[1]))['GLIBC'].replace('.', '_'))" $limits)
setup/wheel_sources.sh build/sources
"$venv/bin/python" setup/fetch_headers.py build/headers

made=build/wheel/made
rm -rf "$made"
env "PATH=$venv/bin:$PATH" "_PYTHON_HOST_PLATFORM=manylinux_${glibc}_x86_64" "CMAKE_BUILD_PARALLEL_LEVEL=$jobs" \
  "$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --config-settings=cmake.define.MEMTRACE_PORTABLE=ON --config-settings=cmake.define.MEMTRACE_TORCH_MINORS=all --config-settings=build.targets=product -w "$made" .
"$venv/bin/python" cmake/portable/check_wheel.py "$made"/*.whl
mkdir -p "$folder"
mv "$made"/*.whl "$folder"
ls -l "$folder"/memtrace-*.whl
