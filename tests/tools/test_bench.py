# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests `memtrace bench`: foreign allocators, written as their authors would, on the simulated card."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.corpus import CORPUS
from support.programs import MEMTRACE, memtrace

SNAPSHOT = CORPUS / "snapshots/NiuHuangxiaozi__assignment2-systems__forward_memory_snapshot_100.pickle"

# Powers of two with a list of free blocks for each: what a researcher would begin with.
BUDDIES = """
#include <stddef.h>
#include <sys/types.h>
extern int cudaMalloc(void** address, size_t bytes);
struct node { struct node* next; void* address; };
static struct node nodes[1 << 16], *unused, *lists[64];
static size_t made;
static int class_of(ssize_t bytes) { int power = 9; while (((ssize_t)1 << power) < bytes) ++power; return power; }
void* my_malloc(ssize_t bytes, int device, void* stream) {
  int power = class_of(bytes);
  struct node* node = lists[power];
  void* address = NULL;
  if (node == NULL) return cudaMalloc(&address, (size_t)1 << power) == 0 ? address : NULL;
  lists[power] = node->next;
  node->next = unused;
  unused = node;
  return node->address;
}
void my_free(void* address, ssize_t bytes, int device, void* stream) {
  int power = class_of(bytes);
  struct node* node = unused != NULL ? unused : &nodes[made++];
  if (node == unused) unused = node->next;
  node->address = address;
  node->next = lists[power];
  lists[power] = node;
}
"""
# The first function of allocators that misbehave, the fault that is found, and a part of its sentence.
WRONG = {
    "crashed": ("*(volatile int*)0 = 1; return 0;", "crashed while it served the requests (SIGSEGV)"),
    "hung": ("for (;;) {}", "longer than 2 s"),
    "ended": ("_exit(7);", "ended its process"),
    "overlapping": (
        "static void* p; if (!p) cudaMalloc(&p, 1 << 20); return p;",
        "overlaps a block in use, for request 2",
    ),
    "misaligned": (
        "char* p = 0; cudaMalloc((void**)&p, bytes + 64); return p + 64;",
        "not aligned to 256 bytes, for request 1",
    ),
    "not_on_card": ("static _Alignas(256) char host[1 << 20]; return host;", "not memory of the card, for request 1"),
}
HEAD = "#include <sys/types.h>\n#include <unistd.h>\nextern int cudaMalloc(void**, size_t);\n"


def library(folder: Path, source: str) -> str:
    """Compiles an allocator and returns its path."""
    (folder / "mine.c").write_text(source)
    made = folder / "libmine.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, folder / "mine.c"], check=True, timeout=60)
    return str(made)


def table(*words: str, code: int = 0) -> dict[str, Any]:
    """Returns the first table of `memtrace bench --json`."""
    done = memtrace("bench", "--json", *words)
    assert done.status == code, done.err
    found: dict[str, Any] = json.loads(done.out)["tables"][0]
    return found


def row(found: dict[str, Any], allocator: str) -> dict[str, Any]:
    return next(each for each in found["rows"] if each["allocator"] == allocator)


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "rows": [{**each, "times": None} for each in found["rows"]]}


def test_books_need_no_card_and_give_equal_rows_twice() -> None:
    words = ["--workload", "gpt2-124m"]
    for name in ("policy", "policy-planned", "lower-bound"):
        words += ["--allocator", name]
    first = table(*words)
    assert first == table(*words)
    bound, planned, policy = (row(first, name) for name in ("lower-bound", "policy-planned", "policy"))
    assert bound["smallest_card"] == first["lower_bound"] and bound["ratio"] == 1
    assert first["lower_bound"] <= planned["smallest_card"] < policy["smallest_card"]
    assert policy["on"] == "books" and policy["on_card"]["failures"] == 0 and not policy["times"]


def test_foreign_allocator_is_judged_by_the_card(tmp_path: Path) -> None:
    words = ["--workload", "hot-64MiB", "--allocator", library(tmp_path, BUDDIES), "--allocator", "cudaMalloc"]
    first = table(*words, "--threads", "1", "--repeat", "3")
    mine, driver = row(first, "libmine.so"), row(first, "cudaMalloc")
    # Two blocks of 64 MiB are alive at once; mine asks the driver for two, cudaMalloc for each.
    assert mine["smallest_card"] == driver["smallest_card"] == first["lower_bound"] == 128 << 20
    assert mine["on_card"]["driver_calls"] == {"cudaMalloc": 2}
    assert driver["on_card"]["calls"] >= 2 * first["requests"] - 1
    assert mine["on"] == "card" and max(mine["reserved"]) == 128 << 20
    assert [len(each["measured_ns"]) for each in mine["times"]] == [3]
    assert without_times(first) == without_times(table(*words, "--repeat", "0"))


def test_smaller_card_counts_the_requests_that_failed(tmp_path: Path) -> None:
    words = ["--allocator", library(tmp_path, BUDDIES), "--card", "100MiB,context=0MiB", "--repeat", "0"]
    found = table("--workload", "hot-64MiB", *words)
    mine = row(found, "libmine.so")["on_card"]
    assert mine["failures"] == found["requests"] - 1 and mine["first_failure"] == 1
    assert mine["peak_reserved"] == 64 << 20


@pytest.mark.parametrize("fault", WRONG)
def test_misbehaving_allocator_is_named_and_others_are_compared(tmp_path: Path, fault: str) -> None:
    body, sentence = WRONG[fault]
    source = f"{HEAD}void* my_malloc(ssize_t bytes, int device, void* stream) {{ {body} }}\nvoid my_free() {{}}\n"
    made = library(tmp_path, source)
    words = ["--workload", "hot-512", "--repeat", "0", "--limit", "2", "--allocator", made, "--allocator", "policy"]
    done = memtrace("bench", "--json", *words)
    assert done.status == 4 and sentence in done.err and done.err.count("\n") == 1, done.err
    found = json.loads(done.out)["tables"][0]
    assert row(found, "libmine.so")["fault"]["name"] == fault and row(found, "libmine.so")["smallest_card"] is None
    assert row(found, "policy")["smallest_card"] is not None


def test_library_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    made = library(tmp_path, BUDDIES)
    done = memtrace("bench", "--workload", "hot-512", "--repeat", "0", "--allocator", f"{made}:their_malloc,my_free")
    assert done.status == 3 and "libmine.so has no function their_malloc" in done.err
    (tmp_path / "text.so").write_text("no library")
    done = memtrace("bench", "--workload", "hot-512", "--repeat", "0", "--allocator", str(tmp_path / "text.so"))
    assert done.status == 3 and "text.so cannot be opened" in done.err
    done = memtrace("bench", "--workload", "hot-512", "--allocator", "./missing.so")
    assert done.status == 3 and "there is no library ./missing.so" in done.err
    done = memtrace("bench", "--workload", "hot-512", "--allocator", f"{made}:my_malloc")
    assert done.status == 2 and "LIBRARY:MALLOC,FREE" in done.err


def test_files_of_other_tools_are_read(tmp_path: Path) -> None:
    csv = tmp_path / "buffers.csv"
    csv.write_text("id,lower,upper,size\na,0,10,4096\nb,5,10,1000\nc,10,12,8192\n")
    log = tmp_path / "rmm.csv"
    log.write_text(
        "Thread,Time,Action,Pointer,Size,Stream\n"
        "1,10:00:00:000001,allocate,0x7f0000000000,4096,0x0\n"
        "1,10:00:00:000002,allocate,0x7f0000010000,1000,0x1\n"
        "1,10:00:00:000003,free,0x7f0000000000,4096,0x0\n"
    )
    assert table(str(csv), "--allocator", "lower-bound")["lower_bound"] == 8192
    found = table(str(log), "--allocator", "policy")
    assert (found["requests"], found["streams"], found["lower_bound"]) == (2, 2, 4096 + 1024)
    csv.write_text("id,lower,upper,size\na,0,10,4096\nb,5,5,1000\n")
    done = memtrace("bench", str(csv))
    assert done.status == 3 and "line 3 is not a buffer" in done.err


def test_input_without_requests_is_refused(tmp_path: Path) -> None:
    csv = tmp_path / "empty.csv"
    csv.write_text("id,lower,upper,size\n")
    done = memtrace("bench", str(csv))
    assert done.status == 2 and "has no request for memory of a card" in done.err
    assert memtrace("bench").status == 2
    done = memtrace("bench", "--workload", "hot-521")
    assert done.status == 2 and "did you mean 'hot-512'" in done.err
    done = memtrace("bench", "--workload", "hot-512", "--allocator", "nativ")
    assert done.status == 2 and "did you mean 'native'" in done.err
    assert memtrace("bench", str(tmp_path / "missing.trace")).status == 3


def test_picture_has_a_curve_for_each_allocator(tmp_path: Path) -> None:
    picture = tmp_path / "reserved.svg"
    words = ["--workload", "gpt2-124m", "--allocator", "policy", "--allocator", "lower-bound", "-o", str(picture)]
    assert memtrace("bench", *words).status == 0
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and ">policy" in drawn.replace("policy ", "policy") and "lower-bound" in drawn
    assert memtrace("bench", *words).status == 2  # it exists
    words[-1] = str(tmp_path / "reserved.html")
    assert memtrace("bench", *words).status == 2


@pytest.mark.slow
def test_torch_allocators_have_the_published_figures() -> None:
    if not SNAPSHOT.exists():
        pytest.skip(f"no {SNAPSHOT}")
    words = []
    for name in ("native", "expandable", "cudaMallocAsync", "memtrace", "planned", "policy", "policy-planned"):
        words += ["--allocator", name]
    found = table(str(SNAPSHOT), *words, "--repeat", "1", "--threads", "1,2")
    smallest = {each["allocator"]: each["smallest_card"] >> 20 for each in found["rows"]}
    # docs/design/performance.md, "The smallest card".
    assert (smallest["native"], smallest["expandable"]) == (438, 398)
    assert (smallest["memtrace"], smallest["policy-planned"]) == (404, 400)
    assert smallest["planned"] == smallest["policy-planned"] and smallest["memtrace"] == smallest["policy"]
    assert all(each["on_card"]["failures"] == 0 and each["fault"] is None for each in found["rows"])
    assert [len(row(found, name)["times"]) for name in ("native", "cudaMallocAsync", "memtrace")] == [2, 2, 2]


def test_installed_header_compiles_as_c(tmp_path: Path) -> None:
    headers = list(MEMTRACE.parent.parent.glob("lib/python3*/site-packages/memtrace/include/memtrace_bench.h"))
    assert len(headers) == 1
    (tmp_path / "one.c").write_text('#include "memtrace_bench.h"\nvoid memtrace_bench_init(int devices) {}\n')
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", "-I", headers[0].parent, tmp_path / "one.c"]
    subprocess.run(command, check=True, timeout=60)
