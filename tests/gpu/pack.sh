#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: pack.sh FOLDER [WHEEL ...]
#
# Packs what a machine with a GPU, a driver, Python 3.12 and torch 2.11 needs for hour.sh, and nothing of which it has:
# the product of .venv, the libraries of Debian that it needs, the driver's suites and the probes, as
# FOLDER/memtrace.tgz; and the wheels beside it. `make build` and the target `tests` come first. There:
# `tar xf memtrace.tgz && gpu/hour.sh facts`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { echo "usage: pack.sh FOLDER [WHEEL ...]" >&2; exit 2; }
into=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${MEMTRACE_VENV:-$root/.venv}
package=$(echo "$venv"/lib/python3*/site-packages/memtrace)
[ -d "$package" ] || { echo "pack.sh: no memtrace in $venv; run make build first" >&2; exit 5; }

mkdir -p "$work"/gpu/{bin,suites,libraries,lib/python3/site-packages} "$into"
cp "$venv/bin/memtrace" "$work/gpu/bin/"
cp -r "$package" "$work/gpu/lib/python3/site-packages/"
find "$work" -name __pycache__ -prune -exec rm -r {} +
rm -f "$work"/gpu/lib/python3/site-packages/memtrace/lib/libmemtrace_parquet.so
cp "$root"/build/dev/tests/gpu/{cuda_vmm_gpu_test,driver_memory_rules_gpu_test,write_profile} "$work/gpu/suites/"
find "$work" \( -name '*.so*' -o -path '*/bin/*' -o -path '*/suites/*' \) -type f -exec strip --strip-unneeded {} +
ldd "$work"/gpu/bin/memtrace "$work"/gpu/suites/* "$work"/gpu/lib/python3/site-packages/memtrace/lib/*.so |
  awk '{print $3}' |
  grep -E '/lib(absl|simdjson|sqlite3)' | sort -u | xargs cp -t "$work/gpu/libraries/"
cp -r "$root"/tests/gpu/hour "$root"/tests/gpu/hour.sh "$work/gpu/"
mkdir -p "$work/gpu/tests/gpu" "$work/gpu/tests/interpose/torch/recorded"
cp -r "$root/tests/support" "$work/gpu/tests/"
cp "$root"/tests/gpu/*.py "$work/gpu/tests/gpu/"
cp "$root/tests/interpose/torch/recorded/cupti_training.py" "$work/gpu/tests/interpose/torch/recorded/"
if [ -n "${MEMTRACE_CORPUS:-}" ]; then
  cp -r "$MEMTRACE_CORPUS/scenarios" "$MEMTRACE_CORPUS/peer" "$work/gpu/"
fi
tar -C "$work" -czf "$into/memtrace.tgz" gpu
for wheel; do cp "$wheel" "$into/"; done
du -sh "$into"
