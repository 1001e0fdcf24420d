#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: pack.sh FOLDER WHEEL [ANSWERS ...]
#
# Packs what a machine with a GPU, a driver, Python and torch 2.11 needs for hour.sh, and nothing of which it has, as
# FOLDER/memtrace.tgz: the wheel that `make wheel` built, the driver's suites with the libraries of Debian that they need, and
# the probes. ANSWERS are folders, each named as a simulated card and filled by an hour with that CARD, to be compared with. The target
# `tests` comes first. There: `tar xf memtrace.tgz && gpu/hour.sh facts`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 2 ] || { echo "usage: pack.sh FOLDER WHEEL [ANSWERS ...]" >&2; exit 2; }
into=$1 wheel=$2
shift 2
build=${MEMTRACE_BUILD:-$root/build/dev}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work"/gpu/{suites,libraries,expected,tests/gpu,tests/interpose/torch/recorded} "$into"
cp "$wheel" "$work/gpu/"
for answers; do cp -r "$answers" "$work/gpu/expected/"; done
cp "$build"/tests/gpu/{cuda_vmm_gpu_test,driver_memory_rules_gpu_test,write_profile} "$work/gpu/suites/"
strip --strip-unneeded "$work"/gpu/suites/*
ldd "$work"/gpu/suites/* | awk '{print $3}' | grep -E '/lib(absl|gtest|gmock)' | sort -u | xargs -r cp -t "$work/gpu/libraries/"
cp -r "$root"/tests/gpu/hour "$root"/tests/gpu/hour.sh "$work/gpu/"
cp -r "$root/tests/support" "$work/gpu/tests/"
cp "$root"/tests/gpu/*.py "$work/gpu/tests/gpu/"
cp "$root/tests/interpose/torch/recorded/cupti_training.py" "$work/gpu/tests/interpose/torch/recorded/"
if [ -n "${MEMTRACE_CORPUS:-}" ]; then cp -r "$MEMTRACE_CORPUS/scenarios" "$work/gpu/"; fi
find "$work" -name __pycache__ -prune -exec rm -r {} +
tar -C "$work" -czf "$into/memtrace.tgz" gpu
du -sh "$into"
