#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: hour.sh PART ... (facts sizes cases ours compiled times speed)
#
# Asks a real card what memtrace assumes of it, on a machine with nothing but a driver, Python and torch 2.11:
# unpacked from what pack.sh made. Each part takes one to three minutes, is usable alone, and leaves files in $OUT
# (default: out).
#   facts     driver's suites, profile, charges, error codes, context    (alone on the card)
#   sizes     what torch's operations and some models allocate           (eight processes at once)
#   cases     the scenarios of the corpus under torch's own allocator
#   ours      a training under each allocator, a full card, CUPTI
#   compiled  torch.compile with CUDA graphs, under torch's allocator and ours
#   times     how long operations take                               (alone on the card)
#   speed     a pair of allocation and free under each allocator      (alone on the card)
#
# With PACKED=FILE in the environment all that was found is in that archive, too, after each probe. With CARD=NAME the
# simulated card of that name is asked instead. GROUPS_OF_SIZES names some groups of torch_sizes.py for `sizes`.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
python=${PYTHON:-python3}
memtrace=$here/bin/memtrace
package=$here/lib/python3/site-packages/memtrace
mkdir -p "$out"

# said NAME SECONDS COMMAND...: runs it, its output into $out/NAME, its messages into $out/messages.txt.
said() {
  local name=$1 seconds=$2 started=$SECONDS status
  shift 2
  within "$seconds" "$@" >"$out/$name" 2>"$out/.$name.err"
  status=$?
  {
    echo "== $name: status $status, $((SECONDS - started)) s"
    tail -n 25 "$out/.$name.err"
  } >>"$out/messages.txt"
  rm -f "$out/.$name.err"
  if [ -n "${PACKED:-}" ]; then tar -C "$out" --exclude='*.trace' -czf "$PACKED" . 2>/dev/null; fi
  echo "$name: status $status, $((SECONDS - started)) s, $(wc -c <"$out/$name") bytes"
}
# within SECONDS COMMAND...: COMMAND, which may be a function of this script, ended after that time.
within() { timeout "$1" bash -c '"$@"' within "${@:2}"; }
with_ours() { env LD_LIBRARY_PATH="$here/libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"; }
# traced OPTIONS... -- PROGRAM...
traced() { with_ours "$memtrace" run -q -f ${CARD:+--card "$CARD"} "$@"; }
# plain ARGUMENTS...: Python as it is without us; on a simulated card under torch's own allocator, not recorded.
plain() {
  if [ -n "${CARD:-}" ]; then traced --no-trace --allocator native -- "$python" "$@"; else "$python" "$@"; fi
}
# bare PROGRAM...: what asks the driver without torch.
bare() {
  if [ -n "${CARD:-}" ]; then
    env MEMTRACE_CARD="$CARD" LD_LIBRARY_PATH="$package/lib/simulated_card:$LD_LIBRARY_PATH" "$@"
  else
    "$@"
  fi
}
# suite PROGRAM...: a program of ours, with the libraries that it needs.
suite() { LD_LIBRARY_PATH="$here/libraries:$LD_LIBRARY_PATH" bare "$@"; }
export -f suite with_ours traced plain bare
export here python memtrace package LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}

part_facts() {
  for suite in driver_memory_rules_gpu_test cuda_vmm_gpu_test; do
    said "$suite.txt" 60 suite "$here/suites/$suite" --gtest_brief=1
  done
  said profile.json 30 suite "$here/suites/write_profile" measured
  said driver_facts.json 90 bare "$python" "$here/hour/driver_facts.py"
  said error_codes.json 90 bare "$python" "$here/hour/error_codes.py"
  said address_walk.json 60 bare "$python" "$here/hour/address_walk.py"
  said context_growth.json 90 plain "$here/hour/context_growth.py"
  said library_growth.json 120 plain "$here/hour/library_growth.py"
  said nccl_growth.json 120 plain "$here/hour/nccl_growth.py"
}

part_sizes() {
  local group
  for group in ${GROUPS_OF_SIZES:-$("$python" "$here/hour/torch_sizes.py" --list)}; do
    said "sizes_$group.jsonl" 170 plain "$here/hour/torch_sizes.py" "$group" &
  done
  wait
}

# case_run NAME SCRIPT ARGUMENTS...
case_run() { (cd "$here/scenarios" && said "case_$1.txt" 100 plain "${@:2}"); }

# Waves of which each fits a card of 140 GB at once; a smaller one runs one after the other.
part_cases() {
  local together=0
  nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits 2>/dev/null |
    awk '{exit !($1 > 140000)}' && together=1
  wave() { case_run "$@" & [ "$together" = 1 ] || wait; }
  wave a2 case_a_mend.py
  wave a5 case_a_mend.py --copy share
  wave gpt2 gpt2.py --random-shapes --steps 40
  wave e3 case_e_resize.py --no-mean
  wait
  wave b2 case_b_grpo.py
  wave b5 case_b_grpo.py --lora --ckpt
  wave d_lora case_d_reward.py --lora --seq 512 --batch 4
  wait
  wave d_foreach case_d_reward.py
  wave c5_fused case_c_cogvideo.py --ckpt --opt fused
  wait
  wave d_fused case_d_reward.py --seq 4096 --opt fused
  wait
  wave c3 case_c_cogvideo.py --opt fused
  wait
}

part_ours() {
  local train=$here/hour/train.py shapes
  local shim=$package/lib/torch-2.11/libmemtrace_torch.so
  for shapes in "" --random-shapes; do
    {
      within 60 plain "$train" $shapes --tag native
      PYTORCH_ALLOC_CONF=expandable_segments:True within 60 plain "$train" $shapes --tag expandable
      within 60 traced --no-trace -- "$python" "$train" $shapes --tag ours
      within 60 traced -o "$out/train$shapes.trace" -- "$python" "$train" $shapes --tag "ours, recorded"
      within 60 traced -o "$out/native$shapes.trace" --allocator native -- "$python" "$train" $shapes \
        --tag "native, recorded"
      within 60 traced --cupti -o "$out/cupti$shapes.trace" -- "$python" "$train" $shapes --tag "ours, cupti"
      LD_LIBRARY_PATH="$here/libraries:$LD_LIBRARY_PATH" within 60 plain "$train" $shapes --pluggable "$shim" \
        --tag pluggable
    } >"$out/train$shapes.jsonl" 2>>"$out/messages.txt"
    cut -c1-200 "$out/train$shapes.jsonl"
  done
  for shapes in "" --random-shapes; do
    said "stats$shapes.txt" 60 with_ours "$memtrace" stats "$out/train$shapes.trace"
    said "report$shapes.txt" 60 with_ours "$memtrace" report "$out/cupti$shapes.trace"
  done
  said full_native.json 100 plain "$here/hour/fill_up.py"
  said full_ours.txt 100 traced -o "$out/full.trace" -- "$python" "$here/hour/fill_up.py" --raise
  said full_report.txt 60 with_ours "$memtrace" report "$out/full.trace"
  said full_report.json 60 with_ours "$memtrace" report --json "$out/full.trace"
  said sizes_ours.jsonl 170 traced --no-trace -- "$python" "$here/hour/torch_sizes.py" models products reductions
  said cupti.txt 200 env PYTHONPATH="$here/tests:$here/tests/gpu${PYTHONPATH:+:$PYTHONPATH}" \
    MEMTRACE_PROGRAM="$memtrace" LD_LIBRARY_PATH="$here/libraries" \
    "$python" -m pytest -q -rs -p no:cacheprovider "$here/tests/gpu/test_cupti.py"
  rm -f "$out"/*.trace
}

part_compiled() {
  local program=$here/hour/compiled.py
  said compiled_native.json 150 plain "$program" native &
  said compiled_ours.json 150 traced --no-trace -- "$python" "$program" ours &
  said compiled_recorded.json 150 traced -o "$out/compiled.trace" -- "$python" "$program" "ours, recorded" &
  wait
  said compiled_report.txt 60 with_ours "$memtrace" report "$out/compiled.trace"
}

part_times() { said op_times.jsonl 120 plain "$here/hour/op_times.py"; }

part_speed() {
  local round
  for round in 1 2 3; do
    plain "$here/hour/pair.py" native
    PYTORCH_ALLOC_CONF=expandable_segments:True plain "$here/hour/pair.py" expandable
    traced --no-trace -- "$python" "$here/hour/pair.py" ours
    traced -o "$out/pair.trace" -- "$python" "$here/hour/pair.py" "ours, recorded"
  done >"$out/pair.jsonl" 2>>"$out/messages.txt"
  rm -f "$out/pair.trace"
  cat "$out/pair.jsonl"
}

[ $# -ge 1 ] || { sed -n '5,19p' "$0" >&2; exit 2; }
for part; do
  declare -F "part_$part" >/dev/null || { echo "hour.sh: no part '$part'" >&2; exit 2; }
  echo "== $part"
  "part_$part"
done
