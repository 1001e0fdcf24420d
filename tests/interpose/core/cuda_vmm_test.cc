// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/cuda_vmm.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "allocator/cuda/cuda_stream_events.h"
#include "tests/allocator/card/vmm_contract.h"

namespace memtrace {
namespace {

bool IsRealDriver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return dlsym(driver, "memtrace_card_check") == nullptr;
}

class CudaVmmDriver {
 public:
  Vmm& vmm() { return *vmm_; }
  static bool is_real_driver() { return IsRealDriver(); }

 private:
  std::unique_ptr<CudaVmm> vmm_ = CudaVmm::Open(DeviceIndex{0}).value();
};
INSTANTIATE_TYPED_TEST_SUITE_P(CudaVmm, VmmContract, CudaVmmDriver);

TEST(CudaVmmTest, MissingCardIsNotOpened) { EXPECT_FALSE(CudaVmm::Open(DeviceIndex{7}).ok()); }

TEST(CudaVmmTest, CallsDoNotChangeTheCurrentContext) {
  const auto vmm = CudaVmm::Open(DeviceIndex{0}).value();
  const Driver& driver = *Driver::Get().value();
  driver.CtxSetCurrent(nullptr);
  EXPECT_TRUE(vmm->MemoryInfo().ok());
  CUcontext current = nullptr;
  EXPECT_EQ(driver.CtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
}

TEST(CudaStreamEventsTest, EventsAreReused) {
  const auto events = CudaStreamEvents::Open(DeviceIndex{0}).value();
  const EventId first = events->Record(StreamId{0}).value();
  EXPECT_TRUE(events->Wait(first).ok());
  const EventId second = events->Record(StreamId{0}).value();
  EXPECT_EQ(first, second);
  EXPECT_TRUE(events->Done(second).value());
}

TEST(CudaStreamEventsTest, InvalidStreamIsRejected) {
  if (IsRealDriver()) GTEST_SKIP() << "a real driver ends the process over it";
  const auto events = CudaStreamEvents::Open(DeviceIndex{0}).value();
  EXPECT_FALSE(events->Record(StreamId{0xbad0}).ok());
  EXPECT_TRUE(events->Record(StreamId{0}).ok());
}

}  // namespace
}  // namespace memtrace
