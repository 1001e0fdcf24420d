#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh VENV BUILD: every benchmark, its figures beside the state of the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 build=$2

echo "machine: $(grep -m1 -oP 'model name\s*:\s*\K.*' /proc/cpuinfo), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
for program in allocator_pair_benchmark allocator_paths_benchmark recorder_event_benchmark recorded_pair_benchmark packing_benchmark; do
  echo && "$build/bench/$program" --benchmark_min_time=0.5 2>/dev/null
done
for trace in "" --trace; do
  echo && echo "torch_interface.py $trace" && "$venv/bin/python" bench/torch_interface.py "$build/bench/libtorch_interface_benchmark.so" \
    $trace --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true 2>/dev/null
done
echo && echo "preload_start.py" && "$venv/bin/python" bench/preload_start.py "$build/package/lib/libmemtrace_preload.so"
echo && echo "preload_pairs.py" && "$venv/bin/python" bench/preload_pairs.py "$build"
echo && echo "torch_pair.py" && "$venv/bin/python" bench/torch_pair.py
echo && echo "stack_pair.py" && "$venv/bin/python" bench/stack_pair.py
echo && echo "gpt2_step.py" && "$venv/bin/python" bench/gpt2_step.py
echo && echo "host_values_step.py" && "$venv/bin/python" bench/host_values_step.py
echo && echo "event_bytes.py" && "$venv/bin/python" bench/event_bytes.py
echo && echo "smallest_card.py" && "$venv/bin/python" bench/smallest_card.py
echo && echo "memtrace bench" && "$venv/bin/memtrace" bench --workload gpt2-124m --allocator all --threads 1,2,8
echo && echo "fleet.py" && "$venv/bin/python" bench/fleet.py
echo && echo "large_trace.py" && "$venv/bin/python" bench/large_trace.py "$build"
echo && echo "page_views.ts" && "$venv/bin/node" bench/page_views.ts "$build"
