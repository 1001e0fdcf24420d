#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: hour.sh PART ... (facts moving sizes cases reports ours compiled times speed)
#
# Asks a real card what memtrace assumes of it, on a machine with nothing but a driver, Python and torch 2.11:
# unpacked from what pack.sh made. Each part takes one to three minutes, is usable alone, leaves small files in $OUT
# (default: out), and ends with a table of what differs from the simulated card's answers, if these came along.
#   facts     doctor, driver's suites, profile, charges, error codes, context   (alone on the card)
#   moving    what it takes to put memory away, back, and on the host           (alone on the card)
#   sizes     what torch's operations and some models allocate                  (as many at once as cores)
#   cases     the scenarios of the corpus under torch's own allocator
#   reports   what memtrace says of some of these scenarios under its own allocator
#   ours      a training under each allocator, a full card, CUPTI
#   compiled  torch.compile with CUDA graphs, under torch's allocator and ours
#   times     how long operations and steps take                                       (alone on the card)
#   speed     a pair of allocation and free, and the smallest card, under each allocator (alone on the card)
#
# In the environment:
#   CARD=NAME             the simulated card of that name is asked instead
#   EXPECTED=FOLDER       what to compare with, which an hour with CARD left in its $OUT (default: expected/NAME of the card)
#   PACKED=FILE           all that was found is in that archive, too, after each probe
#   AGAIN=1               what an earlier hour left in $OUT is asked again; else only what is missing is
#   GROUPS_OF_SIZES=...   some groups of torch_sizes.py for `sizes`
set -uo pipefail
[ $# -ge 1 ] || { sed -n '5,25p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
python=${PYTHON:-python3}
memtrace=$here/installed/bin/memtrace
package=$here/installed/memtrace
mkdir -p "$out"
if [ ! -x "$memtrace" ]; then
  "$python" -m pip install -q --no-index --no-deps --target "$here/installed" "$here"/memtrace-*.whl || exit 5
fi

# Prints the card's name as the simulated one has it, or `unknown`, for which there are no answers to compare with.
card_name() {
  if [ -n "${CARD:-}" ]; then echo "$CARD"; return; fi
  case $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1) in
    *H200*) echo h200 ;;
    *H100*80GB*) echo h100-80gb ;;
    *) echo unknown ;;
  esac
}
expected=${EXPECTED:-$here/expected/$(card_name)}

# said NAME SECONDS COMMAND...: runs it, its output into $out/NAME, its messages into $out/messages.txt. Not if an
# earlier hour has done so.
said() {
  local name=$1 seconds=$2 started=$SECONDS status
  shift 2
  if [ -z "${AGAIN:-}" ] && grep -qsx "$name" "$out/.done"; then
    echo "$name: was there"
    return
  fi
  within "$seconds" "$@" >"$out/$name" 2>"$out/.$name.err"
  status=$?
  {
    echo "== $name: status $status, $((SECONDS - started)) s"
    tail -n 25 "$out/.$name.err"
  } >>"$out/messages.txt"
  rm -f "$out/.$name.err"
  if [ "$status" = 0 ]; then echo "$name" >>"$out/.done"; fi
  if [ -n "${PACKED:-}" ]; then tar -C "$out" --exclude='*.trace' -czf "$PACKED" . 2>/dev/null; fi
  echo "$name: status $status, $((SECONDS - started)) s, $(wc -c <"$out/$name") bytes"
}
# within SECONDS COMMAND...: COMMAND, which may be a function of this script, ended after that time.
within() { timeout "$1" bash -c '"$@"' within "${@:2}"; }
# traced OPTIONS... -- PROGRAM...
traced() { "$memtrace" run -q -f ${CARD:+--card "$CARD"} "$@"; }
# plain ARGUMENTS...: Python as it is without us; on a simulated card under torch's own allocator, not recorded.
plain() {
  if [ -n "${CARD:-}" ]; then traced --no-trace --allocator native -- "$python" "$@"; else "$python" "$@"; fi
}
# unobserved ARGUMENTS...: Python with nothing of memtrace but the simulated card, if CARD names one.
unobserved() {
  if [ -n "${CARD:-}" ]; then
    env MEMTRACE_CARD="$CARD" MEMTRACE_RECORD=0 PYTHONPATH="$package/inject" "$python" "$@"
  else
    "$python" "$@"
  fi
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
# expandable ARGUMENTS...: as plain, with torch's expandable segments.
expandable() { PYTORCH_ALLOC_CONF=expandable_segments:True plain "$@"; }
# unrecorded, recorded FILE and with_cupti FILE ARGUMENTS...: Python under our allocator.
unrecorded() { traced --no-trace -- "$python" "$@"; }
recorded() { traced -o "$1" -- "$python" "${@:2}"; }
with_cupti() { traced --cupti -o "$1" -- "$python" "${@:2}"; }
export -f suite traced plain unobserved bare expandable unrecorded recorded with_cupti
export here python memtrace package LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}

part_facts() {
  said doctor.txt 30 "$memtrace" doctor
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

part_moving() { said moving.json 150 plain "$here/hour/moving.py"; }

part_sizes() {
  local group
  for group in ${GROUPS_OF_SIZES:-$("$python" "$here/hour/torch_sizes.py" --list)}; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
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

# told NAME SCRIPT ARGUMENTS...: a scenario under our allocator, which may end with an out-of-memory, and its reports.
told() {
  local trace=$out/case_$1.trace
  (cd "$here/scenarios" && recorded "$trace" "${@:2}"; true)
  "$memtrace" report "$trace" && "$memtrace" report --json "$trace" >"$out/report_$1.json"
}
export -f told

part_reports() {
  said report_gpt2.txt 90 told gpt2 gpt2.py --random-shapes --steps 40
  said report_d_foreach.txt 90 told d_foreach case_d_reward.py
  said report_c3.txt 90 told c3 case_c_cogvideo.py --opt fused
  said report_b2.txt 90 told b2 case_b_grpo.py
  said report_e3.txt 90 told e3 case_e_resize.py --no-mean
}

# trainings NAME ARGUMENTS...: train.py with these under each allocator, a line each, and their traces.
trainings() {
  local name=$1 train=$here/hour/train.py
  shift
  within 60 plain "$train" "$@" --tag native
  within 60 expandable "$train" "$@" --tag expandable
  within 60 unrecorded "$train" "$@" --tag ours
  within 60 recorded "$out/$name.trace" "$train" "$@" --tag "ours, recorded"
  within 60 traced -o "$out/native_$name.trace" --allocator native -- "$python" "$train" "$@" --tag "native, recorded"
  within 60 with_cupti "$out/cupti_$name.trace" "$train" "$@" --tag "ours, cupti"
  within 60 unobserved "$train" "$@" --pluggable "$package/lib/torch-2.11/libmemtrace_torch.so" --tag pluggable
}
# filled FILE: a training that ends with an out-of-memory, as it has to, under our allocator.
filled() { recorded "$1" "$here/hour/fill_up.py" --raise; [ $? = 1 ]; }
export -f within trainings filled
export out

part_ours() {
  local name shapes
  for name in train train_random; do
    shapes=$([ "$name" = train ] || echo --random-shapes)
    said "$name.jsonl" 400 trainings "$name" $shapes
    cut -c1-200 "$out/$name.jsonl"
    if [ -f "$out/$name.trace" ]; then
      said "stats_$name.txt" 60 "$memtrace" stats "$out/$name.trace"
      said "report_$name.txt" 60 "$memtrace" report "$out/cupti_$name.trace"
    fi
  done
  said full_native.json 100 plain "$here/hour/fill_up.py"
  said full_ours.txt 100 filled "$out/full.trace"
  if [ -f "$out/full.trace" ]; then
    said full_report.txt 60 "$memtrace" report "$out/full.trace"
    said full_report.json 60 "$memtrace" report --json "$out/full.trace"
  fi
  said sizes_ours.jsonl 170 unrecorded "$here/hour/torch_sizes.py" models products reductions
  said cupti.txt 200 env PYTHONPATH="$here/tests:$here/tests/gpu${PYTHONPATH:+:$PYTHONPATH}" \
    MEMTRACE_PROGRAM="$memtrace" "$python" -m pytest -q -rs -p no:cacheprovider "$here/tests/gpu/test_cupti.py"
  rm -f "$out"/*.trace
}

part_compiled() {
  local program=$here/hour/compiled.py
  said compiled_native.json 150 plain "$program" native &
  said compiled_ours.json 150 unrecorded "$program" ours &
  said compiled_recorded.json 150 recorded "$out/compiled.trace" "$program" "ours, recorded" &
  wait
  if [ -f "$out/compiled.trace" ] || [ -f "$out/compiled_report.txt" ]; then said compiled_report.txt 60 "$memtrace" report "$out/compiled.trace"; fi
  rm -f "$out/compiled.trace"
}

part_times() {
  said op_times.jsonl 120 plain "$here/hour/op_times.py"
  said step_times.jsonl 200 plain "$here/hour/step_times.py"
}

# pairs: three rounds of pair.py under each allocator, a line each.
pairs() {
  local program=$here/hour/pair.py
  for _ in 1 2 3; do
    plain "$program" native
    expandable "$program" expandable
    unrecorded "$program" ours
    recorded "$out/pair.trace" "$program" "ours, recorded"
  done
  rm -f "$out/pair.trace"
}
export -f pairs

part_speed() {
  said pair.jsonl 150 pairs
  cat "$out/pair.jsonl"
  said smallest_native.json 100 plain "$here/hour/smallest_card.py" native
  said smallest_expandable.json 100 expandable "$here/hour/smallest_card.py" expandable
  said smallest_ours.json 100 unrecorded "$here/hour/smallest_card.py" ours
}

for part; do
  declare -F "part_$part" >/dev/null || { echo "hour.sh: no part '$part'" >&2; exit 2; }
done
for part; do
  echo "== $part"
  "part_$part"
done
if [ -d "$expected" ]; then "$python" "$here/hour/compare.py" "$expected" "$out"; fi
