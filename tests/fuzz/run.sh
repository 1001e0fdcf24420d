#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh PROGRAMS WORK SECONDS: every fuzzer for so long, one after another. Corpora grow in
# WORK/corpus from the golden traces, so that the next run goes on where this one stopped; an input
# that breaks a target is left in WORK/found/TARGET. Ends with 1 if there was one.
set -euo pipefail
programs=$1 work=$2 seconds=$3
failed=0
rm -rf "$work/seeds"
"$programs/make_seeds" tests/golden "$work/seeds"
for program in "$programs"/*_fuzzer; do
  target=$(basename "$program" _fuzzer)
  mkdir -p "$work/corpus/$target" "$work/found/$target" "$work/seeds/$target"
  folders=("$work/corpus/$target" "$work/seeds/$target")
  [ -d "tests/fuzz/regressions/$target" ] && folders+=("tests/fuzz/regressions/$target")
  log=$work/$target.log
  # A small input must not cost more: 2 GiB with the sanitizer's own, 256 MiB in one piece, 10 s. Entropic
  # scheduling costs libFuzzer half of its time here (perf: UpdateFeatureFrequency).
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=256 -entropic=0 \
    -print_final_stats=1 -artifact_prefix="$work/found/$target/" "${folders[@]}" >"$log" 2>&1; then
    echo "fuzz: $target: $(grep -oP 'number_of_executed_units: \K.*' "$log") inputs, nothing found"
  else
    failed=1
    tail -n 40 "$log"
    echo "fuzz: $target broke; the input is in $work/found/$target, the report in $log" >&2
  fi
done
exit $failed
