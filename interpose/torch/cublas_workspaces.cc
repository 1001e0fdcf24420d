// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// torch gives cuBLAS one workspace a thread, stream and card, at the first product of matrices, and
// keeps it: by its birth it would look like an activation or a temporary. Only torch's own maps
// tell.
#include <c10/core/Allocator.h>
#include <dlfcn.h>

#include <cstddef>
#include <exception>

#include "interpose/core/memtrace.h"
#include "versioned_workspaces.h"  // for the torch that this is built for

namespace memtrace::shim {
namespace {

constexpr int kWorkspace = 7;  // the value of trace::Role::kWorkspace, for the C ABI

// The shim is not linked to this library. Python loads torch's libraries with local symbols, so
// only this handle finds their functions; null if torch has no CUDA.
template <typename Function>
Function* Find(const char* mangled) {
  static void* const kTorchCuda = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  return kTorchCuda != nullptr ? reinterpret_cast<Function*>(dlsym(kTorchCuda, mangled)) : nullptr;
}

// In reports, `site` replaces the module that happened to run the first multiplication.
void Label(const char* site, const char* map_name, const char* size_name) {
  auto* map = Find<WorkspaceMap&()>(map_name);
  auto* size = Find<size_t()>(size_name);
  if (map == nullptr || size == nullptr) return;
  VisitWorkspaces(map(), [&](const c10::DataPtr& workspace, size_t kept) {
    const auto address = reinterpret_cast<uint64_t>(workspace.get());
    if (address == 0) return;
    const size_t bytes = kept == 0 ? size() : kept;
    memtrace_relabel(workspace.device().index(), address, bytes, kWorkspace, 0,
                     memtrace_intern(site));
  });
}

}  // namespace
}  // namespace memtrace::shim

// Labels every workspace that torch now keeps for cuBLAS and cuBLASLt.
extern "C" MEMTRACE_API void memtrace_torch_label_workspaces() {
  using memtrace::shim::Label;
  try {
    Label("cuBLAS workspace", "_ZN2at4cuda33cublas_handle_stream_to_workspaceEv",
          "_ZN2at4cuda22getChosenWorkspaceSizeEv");
    Label("cuBLASLt workspace", "_ZN2at4cuda35cublaslt_handle_stream_to_workspaceEv",
          "_ZN2at4cuda26getCUDABlasLtWorkspaceSizeEv");
  } catch (const std::exception&) {  // torch may reject a size in the environment
    return;                          // the caller is Python by ctypes
  }
}
