// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/frames.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "profiler/trace/events/library_folder.h"

namespace memtrace::analysis {
namespace {

// Native frames in these libraries lie between the program and the driver. Other native frames are
// somebody's: NCCL's memory is NCCL's.
constexpr std::array<std::string_view, 7> kRuntimeLibraries = {
    "libcudart.so", "libcuda.so", "libstdc++.so", "libc.so",
    "libmemtrace",  "libpython3", "python3."};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsRuntimeLibrary(std::string_view file) {
  const std::string_view name = FileName(file);
  return std::any_of(kRuntimeLibraries.begin(), kRuntimeLibraries.end(),
                     [name](std::string_view library) { return name.starts_with(library); });
}

struct NamedLibrary {
  std::string_view file;  // how its file's name begins
  std::string_view name;
};

// The longer of two names with the same beginning comes first.
constexpr std::array<NamedLibrary, 10> kLibraries = {{{"libcublasLt", "cuBLASLt"},
                                                      {"libcublas", "cuBLAS"},
                                                      {"libcudnn", "cuDNN"},
                                                      {"libcufft", "cuFFT"},
                                                      {"libcurand", "cuRAND"},
                                                      {"libcusolver", "cuSOLVER"},
                                                      {"libcusparse", "cuSPARSE"},
                                                      {"libnccl", "NCCL"},
                                                      {"libnvjpeg", "nvJPEG"},
                                                      {"libnvshmem", "NVSHMEM"}}};

const NamedLibrary* LibraryOf(const trace::Frame& frame) {
  const std::string_view file = FileName(frame.file);
  const auto* found =
      std::find_if(kLibraries.begin(), kLibraries.end(),
                   [file](const NamedLibrary& library) { return file.starts_with(library.file); });
  return found == kLibraries.end() ? nullptr : found;
}

// Shortens "Load(Model&)" to "Load"; overloads are told apart in the whole frame.
std::string_view FunctionName(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t end = function.find('(');
  while (end != std::string_view::npos && function.substr(end).starts_with(kAnonymous))
    end = function.find('(', end + kAnonymous.size());
  return function.substr(0, end);
}

// True for a frame of C++ in torch's snapshots, which name a source file, or none ("??" or
// nothing).
bool IsCppSource(std::string_view file) {
  constexpr std::array<std::string_view, 6> kEndings = {".cpp", ".cc", ".cu", ".h", ".hpp", ".c"};
  return file.empty() || file == "??" ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [file](auto ending) { return file.ends_with(ending); });
}

// True if the folder and the name show that torch's inductor made the file: "xy/cxy...", 52 letters
// and digits from the hash of its text.
bool IsInductorFile(std::string_view file) {
  constexpr size_t kName = 52;
  constexpr std::string_view kEnding = ".py";
  if (!file.ends_with(kEnding)) return false;
  file.remove_suffix(kEnding.size());
  const size_t slash = file.rfind('/');
  if (slash == std::string_view::npos || slash < 3 || file.size() - slash - 1 != kName)
    return false;
  const std::string_view name = file.substr(slash + 1);
  return name[0] == 'c' && file[slash - 3] == '/' && file.substr(slash - 2, 2) == name.substr(1, 2);
}

// True for a part of Python's own library that has no file, such as "<frozen runpy>".
bool IsFrozen(std::string_view file) { return file.starts_with("<frozen"); }

}  // namespace

bool IsGeneratedFile(std::string_view file) {
  constexpr std::array<std::string_view, 3> kNames = {"<eval_with_key>", "<attrs generated",
                                                      "<__array_function__"};
  return IsInductorFile(file) || std::any_of(kNames.begin(), kNames.end(),
                                             [file](auto name) { return file.starts_with(name); });
}

bool IsLibraryFile(std::string_view file) {
  return trace::IsInLibraryFolder(file) || IsFrozen(file) || IsRuntimeLibrary(file) ||
         IsCppSource(file) || file.substr(0, 6) == "torch/" || IsGeneratedFile(file);
}

std::string ShortFile(std::string_view file) {
  for (const std::string_view folder : trace::kPackageFolders) {
    if (const size_t at = file.rfind(folder); at != std::string_view::npos) {
      return std::string(file.substr(at + folder.size()));
    }
  }
  if (file.substr(0, 6) == "torch/") return std::string(file);
  // The file of a notebook's cell is named after the cell's text; its folder says what it is.
  if (const size_t at = file.rfind("/ipykernel_"); at != std::string_view::npos)
    return std::string(file.substr(at + 1));
  return std::string(FileName(file));
}

// A native frame that we recorded has no line, and its file ends in "+0x" and an offset.
bool IsNative(const trace::Frame& frame) {
  return (frame.line == 0 && Contains(frame.file, "+0x")) || IsCppSource(frame.file);
}

std::string ShortFrame(const trace::Frame& frame) {
  if (IsCppSource(frame.file)) return std::string(FunctionName(frame.function));
  if (IsNative(frame)) {
    std::string file = ShortFile(frame.file);
    if (frame.function.empty()) return file;
    return std::string(FunctionName(frame.function)) + " (" + file.substr(0, file.rfind("+0x")) +
           ")";
  }
  return ShortFile(frame.file) + ":" + std::to_string(frame.line);
}

const trace::Frame* InnermostUserFrame(const std::vector<trace::Frame>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return !IsLibraryFile(frame.file);
  });
  return found == stack.end() ? nullptr : &*found;
}

std::string UserLine(const std::vector<trace::Frame>& stack) {
  const trace::Frame* user = InnermostUserFrame(stack);
  return user == nullptr ? "" : ShortFrame(*user);
}

std::string LibraryCalled(const std::vector<trace::Frame>& stack) {
  const auto asks = std::find_if(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return !IsRuntimeLibrary(frame.file);
  });
  const NamedLibrary* library = asks == stack.end() ? nullptr : LibraryOf(*asks);
  if (library == nullptr) return "";
  const auto leaves = std::find_if(asks, stack.end(), [library](const trace::Frame& frame) {
    return LibraryOf(frame) != library;
  });
  const trace::Frame* user = InnermostUserFrame(stack);
  if (user != nullptr && !IsNative(*user))
    return std::string(library->name) + ", at " + ShortFrame(*user);
  const std::string_view function = FunctionName(std::prev(leaves)->function);
  return std::string(library->name) + (function.empty() ? "" : ", ") + std::string(function);
}

std::string_view LibraryOfSite(std::string_view site) {
  const std::string_view name = site.substr(0, site.find(", "));
  const bool is_one =
      std::any_of(kLibraries.begin(), kLibraries.end(),
                  [&](const NamedLibrary& library) { return library.name == name; });
  return is_one ? name : std::string_view();
}

std::string LibraryFile(const std::vector<trace::Frame>& stack) {
  const trace::Frame* user = InnermostUserFrame(stack);
  if (user == nullptr || !IsNative(*user) || IsCppSource(user->file)) return "";
  const std::string file = ShortFile(user->file);
  return file.substr(0, file.rfind("+0x"));
}

const trace::Frame& MostInformativeFrame(const std::vector<trace::Frame>& stack) {
  const auto python = std::find_if_not(stack.begin(), stack.end(), IsNative);
  if (python != stack.end()) return *python;
  const auto operation = std::find_if(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return frame.function.starts_with("at::_ops::");
  });
  return operation != stack.end() ? *operation : stack.front();
}

}  // namespace memtrace::analysis
