#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: stage.sh [--first] NAME COMMAND [ARGUMENT...]
#        stage.sh --summary
#
# Runs a stage of `make`: says that it begins and how many minutes it took, and notes them in build/stages.txt, so that growth
# is seen. --first begins those notes anew; --summary prints them. Exits with the code of the command.
set -uo pipefail
cd "$(dirname "$0")/.."
notes=build/stages.txt
mkdir -p build
if [ "${1-}" = --summary ]; then
  awk -F'\t' '{ printf "%6.1f min  %s\n", $1 / 60, $2; all += $1 } END { printf "%6.1f min  total\n", all / 60 }' "$notes"
  exit
fi
if [ "${1-}" = --first ]; then
  shift
  : >"$notes"
fi
name=$1
shift
began=$(date +%s.%N)
echo "== $name"
"$@"
code=$?
took=$(echo "$began $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')
printf '%s\t%s\n' "$took" "$name" >>"$notes"
awk -v s="$took" -v n="$name" 'BEGIN { printf "== %s: %.1f minutes\n", n, s / 60 }'
exit $code
