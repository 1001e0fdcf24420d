// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that keeps memory of the card and gives it up when torch's allocator asks for it, by a
// c10::FreeMemoryCallback. It writes down in which order things happened.
#include <c10/cuda/CUDACachingAllocator.h>

#include <memory>
#include <string>
#include <utility>

namespace {

namespace native = c10::cuda::CUDACachingAllocator;

struct Library {
  void* kept = nullptr;
  std::string happened;
};

// Never destroyed, because the registry and the observer refer to it.
Library& TheLibrary() {
  static auto* library = new Library;
  return *library;
}

class GiveUpWhatIsKept : public c10::FreeMemoryCallback {
 public:
  bool Execute() override {
    Library& library = TheLibrary();
    const bool has_some = library.kept != nullptr;
    library.happened += has_some ? "gave up; " : "had nothing; ";
    if (has_some) native::get()->raw_delete(std::exchange(library.kept, nullptr));
    return has_some;
  }
};

}  // namespace

// REQUIRES: CUDA is in use.
extern "C" __attribute__((visibility("default"))) void register_freeing_callback() {
  c10::FreeCudaMemoryCallbacksRegistry()->Register(
      "memtrace_test", [] { return std::make_unique<GiveUpWhatIsKept>(); });
  native::get()->attachOutOfMemoryObserver(
      [](int64_t /*device*/, size_t /*asked*/, size_t /*total*/, size_t /*free*/) {
        TheLibrary().happened += "out of memory; ";
      });
}

// REQUIRES: nothing is kept.
extern "C" __attribute__((visibility("default"))) void keep_memory(size_t bytes) {
  TheLibrary().kept = native::get()->raw_alloc(bytes);
  TheLibrary().happened.clear();
}

// Returns the events since keep_memory; valid until the next call of a function in this file.
extern "C" __attribute__((visibility("default"))) const char* what_happened() {
  return TheLibrary().happened.c_str();
}
