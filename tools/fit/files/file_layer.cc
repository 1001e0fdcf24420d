// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/file_layer.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/environment.h"
#include "base/host_memory.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "profiler/trace/events/amount.h"
#include "tools/fit/files/cache_folders.h"
#include "tools/fit/files/mount_table.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = env::kFitOverlay.name();
constexpr uint64_t kLeastBytes = 16 << 20;

LayerPlan PlanOf(const launch::Environment& environment, const std::string& scratch,
                 uint64_t bytes) {
  std::error_code ignored;
  LayerPlan plan;
  plan.scratch = WithoutLinks(scratch);
  plan.working_folder = WithoutLinks(fs::current_path(ignored));
  plan.seen = CacheFolders(environment, plan.working_folder);
  plan.needed = {plan.working_folder};
  if (const auto home = environment.find("HOME"); home != environment.end())
    plan.needed.push_back(WithoutLinks(home->second));
  plan.bytes = bytes;
  return plan;
}

// Opens the file by which the run's processes see what each holds on the simulated cards. The run
// has its own, because another may run beside it. The run has to open it: in a user namespace of
// its own it cannot reach what this process opened.
void OpenLedger(launch::Environment& environment) {
  if (environment.count(env::kCardShared.name()) == 0) return;
  const int ledger = memfd_create("memtrace-card", 0);
  if (ledger < 0) return;
  environment[env::kCardShared.name()] = absl::StrCat("/proc/", getpid(), "/fd/", ledger);
}

// Tries the layer in a child. Returns the child's error, or if it is in a user namespace.
absl::StatusOr<bool> Try(const LayerPlan& plan) {
  constexpr int kOwnUsers = 2;
  int ends[2];
  if (pipe(ends) != 0) return absl::UnavailableError(Message("the kernel refused a pipe"));
  const pid_t child = fork();
  if (child == 0) {
    LayeredRoot root(plan);
    const absl::Status entered = root.Enter();
    const std::string said = entered.ok() ? "" : std::string(entered.message());
    const bool is_said =
        write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(!entered.ok() || !is_said ? 1 : root.has_own_users() ? kOwnUsers : 0);
  }
  close(ends[1]);
  std::string said(1000, '\0');
  const ssize_t length = child < 0 ? 0 : read(ends[0], said.data(), said.size());
  close(ends[0]);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (code == 0 || code == kOwnUsers) return code == kOwnUsers;
  said.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return absl::UnavailableError(
      said.empty() ? Message("the kernel refused a process to try the layer") : said);
}

// One byte, with room for one descriptor (unix(7), SCM_RIGHTS).
struct Parcel {
  Parcel() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof(room);
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
};

// Sends an open file to the other end of the pair of sockets; false if that fails.
bool PassDescriptor(int socket, int descriptor) {
  Parcel parcel;
  cmsghdr* control = CMSG_FIRSTHDR(&parcel.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(descriptor));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof(descriptor));
  return sendmsg(socket, &parcel.header, 0) == 1;
}

// Returns the open file that was sent, to be closed by the caller; -1 if none was. Does not wait.
int TakeDescriptor(int socket) {
  Parcel parcel;
  int descriptor = -1;
  if (recvmsg(socket, &parcel.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return descriptor;
  const cmsghdr* control = CMSG_FIRSTHDR(&parcel.header);
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(control), sizeof(descriptor));
  return descriptor;
}

}  // namespace

absl::StatusOr<FileKeeping> FindFileKeeping(const launch::Environment& environment,
                                            const std::string& scratch) {
  const auto asked = environment.find(kVariable);
  const bool is_asked = asked != environment.end() && !asked->second.empty();
  if (is_asked && asked->second == "0")
    return FileKeeping{.why_no_layer = Message("$0 is 0", kVariable)};
  const std::optional<uint64_t> bytes =
      is_asked ? trace::BytesOf(asked->second) : std::max(ReadHostMemory().total / 4, kLeastBytes);
  if (!bytes || *bytes < kLeastBytes) {
    return absl::InvalidArgumentError(
        Message("$0: '$1' is neither 0 nor an amount of at least 16MiB; write it as 4GiB",
                kVariable, asked->second));
  }
  const absl::StatusOr<bool> tried = Try(PlanOf(environment, scratch, *bytes));
  if (tried.ok())
    return FileKeeping{.layer_bytes = *bytes, .why_no_layer = "", .has_own_users = *tried};
  return FileKeeping{.why_no_layer = std::string(tried.status().message())};
}

FileLayer::FileLayer(const launch::Environment& environment, const std::string& scratch,
                     uint64_t bytes)
    : plan_(PlanOf(environment, scratch, bytes)) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  ours_ = pair[0];
  childs_ = pair[1];
}

FileLayer::~FileLayer() {
  if (ours_ >= 0) close(ours_);
  if (childs_ >= 0) close(childs_);
  for (const int taken : {memory_, mounts_, users_})
    if (taken >= 0) close(taken);
}

absl::Status FileLayer::Enter(launch::Environment& environment) const {
  LayeredRoot root(plan_);
  MEMTRACE_RETURN_IF_ERROR(root.Enter());
  const int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  const bool is_passed =
      PassDescriptor(childs_, root.memory()) && PassDescriptor(childs_, mounts) &&
      (!root.has_made_users() ||
       PassDescriptor(childs_, open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC)));
  if (!is_passed) return absl::UnavailableError(Message("cannot hand over the layer of the run"));
  OpenLedger(environment);
  return absl::OkStatus();
}

absl::Status FileLayer::MakeFor(FileLayer& others) {
  others.Keep();
  const pid_t child = fork();
  if (child == 0) {
    launch::Environment ignored;
    const bool is_beside = others.users_ < 0 || setns(others.users_, CLONE_NEWUSER) == 0;
    _exit(is_beside && Enter(ignored).ok() ? 0 : 1);
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  Keep();
  if (others.users_ >= 0) users_ = fcntl(others.users_, F_DUPFD_CLOEXEC, 0);
  if (status == 0 && mounts_ >= 0) return absl::OkStatus();
  return absl::UnavailableError(Message("the kernel refused a layer for the run"));
}

absl::Status FileLayer::KeepRightToEnter() {
  if (geteuid() == 0) return absl::OkStatus();  // root keeps all
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {};
  bool is_kept = syscall(SYS_capget, &header, rights) == 0;
  for (const int right : {CAP_SYS_ADMIN, CAP_SYS_CHROOT}) rights[0].inheritable |= 1u << right;
  is_kept = is_kept && syscall(SYS_capset, &header, rights) == 0;
  for (const int right : {CAP_SYS_ADMIN, CAP_SYS_CHROOT})
    is_kept = is_kept && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, right, 0, 0) == 0;
  if (is_kept) return absl::OkStatus();
  return absl::UnavailableError(
      Message("the kernel refused to keep a right: $0", std::strerror(errno)));
}

void FileLayer::Keep() {
  if (memory_ >= 0) return;
  memory_ = TakeDescriptor(ours_);
  mounts_ = TakeDescriptor(ours_);
  users_ = TakeDescriptor(ours_);
}

absl::Status FileLayer::EnterAgain(launch::Environment& environment) const {
  const bool has_entered = (users_ < 0 || setns(users_, CLONE_NEWUSER) == 0) &&
                           setns(mounts_, CLONE_NEWNS) == 0 &&
                           chdir(plan_.working_folder.c_str()) == 0;
  if (!has_entered)
    return absl::UnavailableError(
        Message("the kernel refused the layer of the run before: $0", std::strerror(errno)));
  OpenLedger(environment);
  return absl::OkStatus();
}

std::optional<LayerContents> FileLayer::Contents() {
  Keep();
  if (memory_ < 0) return std::nullopt;
  return ReadLayer(memory_);
}

}  // namespace memtrace::fit
