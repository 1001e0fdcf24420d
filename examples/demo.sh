#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: demo.sh BIN (the folder of python and memtrace). A real training script runs out of a simulated 24 GiB card;
# the report says why; then a change that it names is tried.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "$1" && pwd)
mkdir -p build/demo

run() { # run TRACE SCRIPT
  echo "\$ memtrace run --card 24GiB -o $1 -- python $2"
  "$bin/memtrace" run -q -f --card 24GiB -o "build/demo/$1" -- "$bin/python" "$2" 2>"build/demo/$1.log" || {
    grep -A1 -m1 'OutOfMemoryError' "build/demo/$1.log" || cat "build/demo/$1.log"
  }
}

run run.trace examples/train_gpt2_xl.py
echo
echo "\$ memtrace report run.trace"
(cd build/demo && "$bin/memtrace" report run.trace)
echo
echo "The same training with the second of these changes, model.to(torch.bfloat16), for three steps:"
run bf16.trace examples/train_gpt2_xl_bf16.py
echo
echo "\$ memtrace report bf16.trace"
(cd build/demo && "$bin/memtrace" report bf16.trace)
echo
echo "\$ memtrace report -o page.html run.trace"
"$bin/memtrace" report -f -o build/demo/page.html build/demo/run.trace
