// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A small CUDA program, compiled as a user's would be. `cuda_program WHAT` does one thing with
// memory and prints "done".
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/interface/card_listener.h"

// Exported, so that stacks show its name.
extern "C" __attribute__((visibility("default"), noinline)) void* LoadTheModel(size_t bytes) {
  void* address = nullptr;
  if (cudaMalloc(&address, bytes) != cudaSuccess) std::exit(11);
  return address;
}

namespace {

constexpr size_t kMiB = size_t{1} << 20;

void Check(int result, const char* call) {
  if (result == 0) return;
  std::printf("%s: %d\n", call, result);
  std::fflush(stdout);
  std::_Exit(1);
}
#define CHECK_CALL(call) Check(static_cast<int>(call), #call)

void* DeviceMemory(size_t bytes) {
  void* address = nullptr;
  CHECK_CALL(cudaMalloc(&address, bytes));
  return address;
}

// 5 MiB are left at the end; the peak is 8.
void Leave() {
  void* kept = DeviceMemory(5 * kMiB);
  void* given_back = DeviceMemory(3 * kMiB);
  CHECK_CALL(cudaFree(given_back));
  static_cast<void>(kept);
}

void Kinds() {
  void* address = nullptr;
  cudaStream_t stream = nullptr;
  CHECK_CALL(cudaStreamCreate(&stream));
  CHECK_CALL(cudaMallocAsync(&address, 2 * kMiB, stream));
  CHECK_CALL(cudaFreeAsync(address, stream));
  CHECK_CALL(cudaMallocAsync(&address, 4 * kMiB, stream));
  CHECK_CALL(cudaMallocManaged(&address, 7 * kMiB));
  CHECK_CALL(cudaMallocHost(&address, 1 * kMiB));
  CHECK_CALL(cudaFreeHost(address));
  CHECK_CALL(cudaHostAlloc(&address, 3 * kMiB, 0));
  static char registered[1 << 20];
  CHECK_CALL(cudaHostRegister(registered, sizeof(registered), 0));
  cudaMemPool_t pool = nullptr;
  CHECK_CALL(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK_CALL(cudaMallocFromPoolAsync(&address, 6 * kMiB, pool, stream));
}

void NamedFunction() {
  if (LoadTheModel(9 * kMiB) == nullptr) std::exit(12);
}

// Makes 8 MiB of physical memory that is mapped, released, and unmapped at the end, and 4 that are
// left.
void Physical() {
  CHECK_CALL(cudaFree(nullptr));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  CUmemGenericAllocationHandle left = 0;
  CHECK_CALL(cuMemCreate(&left, 4 * kMiB, &properties, 0));
  CUmemGenericAllocationHandle mapped = 0;
  CHECK_CALL(cuMemCreate(&mapped, 8 * kMiB, &properties, 0));
  CUdeviceptr address = 0;
  CHECK_CALL(cuMemAddressReserve(&address, 8 * kMiB, 0, 0, 0));
  CHECK_CALL(cuMemMap(address, 8 * kMiB, 0, mapped, 0));
  CHECK_CALL(cuMemRelease(mapped));
  void* beside = DeviceMemory(1 * kMiB);  // the peak: all 13
  CHECK_CALL(cudaFree(beside));
  CHECK_CALL(cuMemUnmap(address, 8 * kMiB));
}

void RunOut() {
  DeviceMemory(300 * kMiB);
  void* address = nullptr;
  if (cudaMalloc(&address, 700 * kMiB) != cudaErrorMemoryAllocation) std::exit(3);
}

// Finds the driver's functions like a CUDA runtime that is linked into its user: by handle, then by
// the driver's own table.
using Alloc = CUresult (*)(CUdeviceptr*, size_t);
using Free = CUresult (*)(CUdeviceptr);

template <typename Function>
Function By(void* library, const char* name) {
  auto found = reinterpret_cast<Function>(dlsym(library, name));
  if (found == nullptr) std::exit(4);
  return found;
}

void Current(void* driver) {
  CHECK_CALL(By<decltype(&cuInit)>(driver, "cuInit")(0));
  CUcontext context = nullptr;
  CHECK_CALL(
      By<decltype(&cuDevicePrimaryCtxRetain)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0));
  CHECK_CALL(By<decltype(&cuCtxSetCurrent)>(driver, "cuCtxSetCurrent")(context));
}

void LoadedDriver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) std::exit(5);
  Current(driver);
  CUdeviceptr address = 0;
  CHECK_CALL(By<Alloc>(driver, "cuMemAlloc_v2")(&address, 5 * kMiB));
  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  void* function = nullptr;
  CHECK_CALL(By<Find>(driver, "cuGetProcAddress_v2")("cuMemAlloc", &function, 13000, 0, nullptr));
  CHECK_CALL(reinterpret_cast<Alloc>(function)(&address, 6 * kMiB));
  CHECK_CALL(By<Find>(driver, "cuGetProcAddress_v2")("cuMemFree", &function, 13000, 0, nullptr));
  CHECK_CALL(reinterpret_cast<Free>(function)(address));
}

void EntryPoints() {
  void* function = nullptr;
  CHECK_CALL(cudaFree(nullptr));
  CHECK_CALL(
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, nullptr));
  CUdeviceptr address = 0;
  CHECK_CALL(reinterpret_cast<Alloc>(function)(&address, 5 * kMiB));
}

void Threads() {
  CHECK_CALL(cudaFree(nullptr));
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) CHECK_CALL(cudaFree(DeviceMemory(kMiB)));
      DeviceMemory(2 * kMiB);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void ForkBefore() {
  const pid_t child = fork();
  Leave();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(6);
}

void ForkAfter() {
  Leave();
  if (fork() == 0) _exit(cudaFree(nullptr) == cudaSuccess ? 7 : 0);
  int status = 0;
  wait(&status);
  if (status != 0) std::exit(8);
}

void Execute(char** argv) {
  Leave();
  char leave[] = "leave";
  char* const again[] = {argv[0], leave, nullptr};
  execv("/proc/self/exe", again);
}

void ClearEnvironment() {
  CHECK_CALL(cudaFree(nullptr));
  clearenv();
  Leave();
}

// Closes all files, as a daemon does.
void CloseFiles() {
  Leave();
  for (int file = 3; file < 1024; ++file) close(file);
  FILE* own = std::fopen("own.txt", "w+");
  std::fputs("untouched", own);
  std::fflush(own);
  for (int i = 0; i < 200000; ++i) CHECK_CALL(cudaFree(DeviceMemory(kMiB)));
}

// Only the driver's answer is checked, because the simulated card has no reset.
void Reset() {
  Leave();
  if (cudaDeviceReset() == cudaSuccess) DeviceMemory(4 * kMiB);
}

// Code that the driver calls (here a listener of the card) also uses the driver, in this thread and
// in another, so a hook of the driver must not hold a lock meanwhile.
void WithinCalls() {
  static thread_local bool is_within = false;
  // Uses no runtime functions, because the listener is told of those before they call the driver.
  static constexpr auto kTakeAndGiveBack = [] {
    CUdeviceptr address = 0;
    void* host = nullptr;
    CHECK_CALL(cudaSetDevice(0));
    CHECK_CALL(cuMemAlloc(&address, kMiB));
    CHECK_CALL(cuMemFree(address));
    CHECK_CALL(cuMemAllocHost(&host, kMiB));
    CHECK_CALL(cuMemFreeHost(host));
  };
  static constexpr memtrace_card_listener kListener = {
      .enters =
          [](const memtrace_card_call*) {
            if (is_within) return;
            is_within = true;
            kTakeAndGiveBack();
            std::thread([] {
              is_within = true;
              kTakeAndGiveBack();
            }).join();
            is_within = false;
          },
      .leaves = [](const memtrace_card_call*) {},
      .happens = [](const memtrace_card_event*) {}};
  Leave();
  memtrace_card_listen(&kListener);
  kTakeAndGiveBack();
  memtrace_card_listen(nullptr);
}

// The range of an address is the block that the program requested.
void Range() {
  auto* block = static_cast<char*>(DeviceMemory(3 * kMiB));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CHECK_CALL(cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(block + 4096)));
  if (base != reinterpret_cast<CUdeviceptr>(block) || bytes != 3 * kMiB) std::exit(13);
}

// Counts how often the driver is asked for memory, or given it, in 100 equal rounds.
void Counted() {
  CHECK_CALL(cudaFree(DeviceMemory(4 * kMiB)));
  CHECK_CALL(memtrace_card_log_calls(1));
  for (int i = 0; i < 100; ++i) {
    CUdeviceptr address = 0;
    CHECK_CALL(cuMemAlloc(&address, 4 * kMiB));
    CHECK_CALL(cuMemFree(address));
  }
  size_t calls = 0;
  const auto count = [](void* user, const char* call, uint64_t) {
    const std::string_view name(call);
    if (name.starts_with("cuMem")) ++*static_cast<size_t*>(user);
  };
  memtrace_card_visit_calls(count, &calls);
  std::printf("%zu\n", calls);
}

// errno belongs to the program.
void KeepErrno() {
  errno = EDOM;
  Leave();
  if (errno != EDOM) std::exit(9);
}

void* Neighbour(const char* name) { return dlsym(RTLD_NEXT, name); }

// RTLD_NEXT must find the symbol that comes after the program, not after us.
void Next() {
  if (Neighbour("malloc") == nullptr || Neighbour("main") != nullptr) std::exit(10);
}

struct AtEnd {
  void* kept = nullptr;
  ~AtEnd() {
    if (kept != nullptr) CHECK_CALL(cudaFree(kept));
  }
} at_end;

void AfterMain() {
  Leave();
  at_end.kept = DeviceMemory(kMiB);
}

__attribute__((constructor)) void BeforeMain(int argc, char** argv, char** /*environment*/) {
  if (argc > 1 && std::strcmp(argv[1], "constructor") == 0) Leave();
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*action)();
  } actions[] = {{"leave", Leave},
                 {"kinds", Kinds},
                 {"named_function", NamedFunction},
                 {"physical", Physical},
                 {"run_out", RunOut},
                 {"loaded_driver", LoadedDriver},
                 {"entry_points", EntryPoints},
                 {"threads", Threads},
                 {"fork_before", ForkBefore},
                 {"fork_after", ForkAfter},
                 {"clear_environment", ClearEnvironment},
                 {"close_files", CloseFiles},
                 {"reset", Reset},
                 {"within_calls", WithinCalls},
                 {"range", Range},
                 {"counted", Counted},
                 {"errno", KeepErrno},
                 {"next", Next},
                 {"after_main", AfterMain}};
  for (const auto& action : actions) {
    if (std::strcmp(action.name, what) == 0) action.action();
  }
  if (std::strcmp(what, "execute") == 0) Execute(argv);
  std::puts("done");
}
