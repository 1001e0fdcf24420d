// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/code_range.h"

#include <link.h>

namespace memtrace {
namespace {

struct Wanted {
  const void* address;
  CodeRange found;
};

int Look(dl_phdr_info* file, size_t /*size*/, void* user) {
  auto& wanted = *static_cast<Wanted*>(user);
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = file->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = file->dlpi_addr + header.p_vaddr;
    const CodeRange code{begin, begin + header.p_memsz};
    if (!code.Has(wanted.address)) continue;
    wanted.found = code;
    return 1;
  }
  return 0;
}

}  // namespace

CodeRange CodeRange::Of(const void* address) {
  Wanted wanted{.address = address, .found = {}};
  dl_iterate_phdr(Look, &wanted);
  return wanted.found;
}

}  // namespace memtrace
