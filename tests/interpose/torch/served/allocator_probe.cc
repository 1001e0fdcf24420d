// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks the allocator that torch uses, by its C++ interface, for what Python does not reach. The
// test compares the answers of torch's own with ours: they are facts that both promise.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using native::TraceEntry;

constexpr size_t kMiB = size_t{1} << 20;

// Has one line an answer: "name=value".
class Answers {
 public:
  void Add(const char* name, const std::string& value) { text_ += name + ("=" + value) + "\n"; }
  void Add(const char* name, const char* value) { Add(name, std::string(value)); }
  void Add(const char* name, bool value) { Add(name, std::string(value ? "yes" : "no")); }
  void Add(const char* name, size_t value) { Add(name, std::to_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

size_t Allocated() {
  return static_cast<size_t>(native::getDeviceStats(0).allocated_bytes[0].current);
}

struct Told {
  std::vector<TraceEntry> changes;
  std::string out_of_memory = "nothing";
  std::string rejection = "nothing";
};
// Never destroyed: trackers are called under the allocator's lock and cannot be removed.
Told& AllTold() {
  static auto* told = new Told;
  return *told;
}

std::string Joined(std::initializer_list<size_t> numbers) {
  std::string text;
  for (const size_t number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

void AskForRawMemory(native::CUDAAllocator& allocator, Answers& answers) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(0);
  void* raw = allocator.raw_alloc(3 * kMiB);
  void* on_stream = allocator.raw_alloc_with_stream(3 * kMiB, stream);
  answers.Add("raw_alloc", Allocated());
  answers.Add("memcpyAsync", allocator.memcpyAsync(on_stream, 0, raw, 0, 512, stream,
                                                   /*p2p_enabled=*/false) == cudaSuccess);
  allocator.copy_data(on_stream, raw, 512);
  try {
    size_t bytes = 0;
    const bool is_base = allocator.getBaseAllocation(raw, &bytes) == raw;
    answers.Add("getBaseAllocation", is_base && bytes >= 3 * kMiB);
  } catch (const c10::Error&) {
    answers.Add("getBaseAllocation", "refused");  // torch's own does, with segments that expand
  }
  allocator.raw_delete(raw);
  allocator.raw_delete(on_stream);
  answers.Add("raw_delete", Allocated());
}

void AskForDataPointers(native::CUDAAllocator& allocator, Answers& answers) {
  c10::DataPtr data = allocator.allocate(3 * kMiB);
  answers.Add("raw_deleter", allocator.raw_deleter() == data.get_deleter());
  answers.Add("is_simple_data_ptr", allocator.is_simple_data_ptr(data));
  const c10::DataPtr copy = allocator.clone(data.get(), 3 * kMiB);
  answers.Add("clone", copy.get() != nullptr && copy.get() != data.get());
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
  allocator.recordStream(data, side);
  allocator.recordStream(data, side.unwrap());
  void* raw = allocator.raw_allocate(kMiB);
  answers.Add("raw_allocate", Allocated());
  allocator.raw_deallocate(raw);
  data.clear();
  answers.Add("a recorded block freed", Allocated());
}

// Before anything is cached, the answer is the card's free memory: the limit for cuDNN's
// workspaces.
void AskForCacheInfo(native::CUDAAllocator& allocator, Answers& answers) {
  allocator.emptyCache({0, 0});
  const auto [free, total] = allocator.getMemoryInfo(0);
  size_t guessed = 0;
  allocator.cacheInfo(0, &guessed);
  answers.Add("cacheInfo of an empty cache is what is free", guessed == free && free < total);
  allocator.raw_delete(allocator.raw_alloc(40 * kMiB));
  size_t largest = 512;
  allocator.cacheInfo(0, &largest);
  answers.Add("cacheInfo of a cached block", largest);
  size_t more = 50 * kMiB;
  allocator.cacheInfo(0, &more);
  answers.Add("cacheInfo beyond the cached block", more);
}

// torch's own allocator omits the default stream's segments.
void AskForSegments(native::CUDAAllocator& allocator, Answers& answers) {
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
  allocator.raw_delete(allocator.raw_alloc_with_stream(40 * kMiB, side));
  std::string segments;
  for (const auto& segment : allocator.getExpandableSegmentSizes(0)) {
    if (segment.stream != side.stream()) continue;
    segments += Joined({segment.is_small_pool ? 1u : 0u, segment.total_size}) + ";";
  }
  answers.Add("getExpandableSegmentSizes", segments);
}

void AskForSwitches(native::CUDAAllocator& allocator, Answers& answers) {
  answers.Add("name", allocator.name());
  answers.Add("initialized", allocator.initialized());
  allocator.enable(false);
  answers.Add("isEnabled", allocator.isEnabled());
  allocator.enable(true);
  answers.Add("isEnabled again", allocator.isEnabled());
  allocator.setMemoryFraction(0.5, 0);
  answers.Add("getMemoryFraction", allocator.getMemoryFraction(0) == 0.5);
  allocator.setMemoryFraction(1, 0);
  answers.Add("isHistoryEnabled", allocator.isHistoryEnabled());
}

void AskForTracker(native::CUDAAllocator& allocator, Answers& answers) {
  AllTold().changes.reserve(100);
  allocator.attachAllocatorTraceTracker(
      [](const TraceEntry& entry) { AllTold().changes.push_back(entry); });
  std::string context = "compiled region";
  allocator.pushCompileContext(context);
  allocator.setUserMetadata("the program's words");
  answers.Add("getUserMetadata", allocator.getUserMetadata());
  void* raw = allocator.raw_alloc(60 * kMiB);
  allocator.popCompileContext();
  allocator.setUserMetadata("");
  allocator.raw_delete(raw);
  std::string told;
  for (const TraceEntry& entry : AllTold().changes) {
    // Segments are mapped chunk by chunk, or all at once.
    if (entry.action_ == TraceEntry::SEGMENT_MAP) continue;
    told += std::to_string(entry.action_) + " " + std::to_string(entry.size_) + " '" +
            entry.compile_context_ + "' '" + entry.user_metadata_ + "' ";
    told += entry.addr_ == reinterpret_cast<size_t>(raw) ? "there;" : "elsewhere;";
  }
  answers.Add("attachAllocatorTraceTracker", told);
  allocator.recordAnnotation({{"name", "## here ##"}});
}

void AskForObserver(native::CUDAAllocator& allocator, Answers& answers) {
  allocator.attachOutOfMemoryObserver([](int64_t device, size_t asked, size_t total, size_t free) {
    AllTold().out_of_memory = Joined({static_cast<size_t>(device), asked, total, free > 0});
  });
  try {
    allocator.raw_alloc(5000 * kMiB);
  } catch (const c10::OutOfMemoryError&) {
    answers.Add("attachOutOfMemoryObserver", AllTold().out_of_memory);
  }
}

#ifdef MEMTRACE_TORCH_2_14
void AskForWhatIsNew(native::CUDAAllocator& allocator, Answers& answers) {
  allocator.markCaptureBegin(0);
  allocator.markCaptureEnd(0);
  answers.Add("supportsUserMetadata", allocator.supportsUserMetadata());
  const c10::DataPtr data = allocator.allocate(kMiB);
  answers.Add("getContextForPointer", allocator.getContextForPointer(data.get()) != nullptr);
  allocator.annotateMemory(data.get(), "later words");
  allocator.attachOomRejectionObserver(
      [](int64_t device, size_t asked, size_t reserved, size_t total) {
        AllTold().rejection = Joined({static_cast<size_t>(device), asked, reserved, total});
      });
}
#else
void AskForWhatIsNew(native::CUDAAllocator& /*allocator*/, Answers& /*answers*/) {}
#endif

size_t Give(const std::string& text, char* to, size_t size) {
  to[text.copy(to, size - 1)] = '\0';
  return text.size();
}

}  // namespace

// REQUIRES: CUDA is in use, nothing is allocated. Returns the bytes of the answers, cut at size -
// 1.
extern "C" __attribute__((visibility("default"))) size_t probe_allocator(char* to, size_t size) {
  native::CUDAAllocator& allocator = *native::get();
  Answers answers;
  AskForSwitches(allocator, answers);
  AskForRawMemory(allocator, answers);
  AskForDataPointers(allocator, answers);
  AskForCacheInfo(allocator, answers);
  AskForSegments(allocator, answers);
  AskForTracker(allocator, answers);
  AskForObserver(allocator, answers);
  AskForWhatIsNew(allocator, answers);
  return Give(answers.text(), to, size);
}

// Writes what the observer of rejections was told last.
extern "C" __attribute__((visibility("default"))) size_t probe_rejection(char* to, size_t size) {
  return Give(AllTold().rejection, to, size);
}

extern "C" __attribute__((visibility("default"))) void* probe_base_allocation(void* address,
                                                                              size_t* bytes) {
  return native::getBaseAllocation(address, bytes);
}
