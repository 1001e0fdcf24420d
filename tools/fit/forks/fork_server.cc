// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/forks/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "messages/message.h"

namespace memtrace::fit {
namespace {

constexpr int kMostImportSeconds = 300;
constexpr int kMostForkSeconds = 30;
constexpr size_t kDescriptors = 3;  // the request, the log, the mount namespace

// A descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

absl::Status Refused(std::string_view call) {
  return absl::UnavailableError(Message("the kernel refused $0: $1", call, std::strerror(errno)));
}

// Returns the text of the request, which _forks/request.py reads: the number of variables, the
// variables, the folder and the words of the command, each ended by a zero.
std::string RequestText(const launch::LaunchPlan& plan, const std::string& folder) {
  std::string text = absl::StrCat(plan.environment.size());
  text += '\0';
  for (const auto& [name, value] : plan.environment) {
    absl::StrAppend(&text, name, "=", value);
    text += '\0';
  }
  text += folder + '\0';
  for (const std::string& word : plan.arguments) text += word + '\0';
  return text;
}

// Returns a file in memory with the text; -1 if the kernel refuses it.
int FileWith(const std::string& text) {
  Descriptor file(memfd_create("memtrace-run", MFD_CLOEXEC));
  if (file.number() < 0) return -1;
  const bool is_written =
      write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return is_written ? file.Release() : -1;
}

// Sends one byte with the descriptors (unix(7), SCM_RIGHTS).
bool Send(int socket, const std::array<int, kDescriptors>& descriptors) {
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(descriptors))] = {};
  msghdr header = {};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  header.msg_control = room;
  header.msg_controllen = sizeof(room);
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(descriptors));
  std::memcpy(CMSG_DATA(control), descriptors.data(), sizeof(descriptors));
  return sendmsg(socket, &header, MSG_NOSIGNAL) == 1;
}

// Returns the next answer of the process, "0" or a number for success and else a reason.
absl::StatusOr<std::string> Receive(int socket, int seconds) {
  pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 1000;
  if (poll(&wait, 1, seconds * kMilliseconds) != 1)
    return absl::UnavailableError(Message("the process that forks runs does not answer"));
  std::array<char, 1024> text{};
  const ssize_t length = recv(socket, text.data(), text.size(), 0);
  if (length <= 0) return absl::UnavailableError(Message("the process that forks runs has ended"));
  return std::string(text.data(), static_cast<size_t>(length));
}

// Returns the number that the process answers; kUnavailable with the reason if it answers one.
absl::StatusOr<int> ReceiveNumber(int socket, int seconds) {
  MEMTRACE_ASSIGN_OR_RETURN(const std::string answer, Receive(socket, seconds));
  int number = 0;
  if (absl::SimpleAtoi(answer, &number)) return number;
  return absl::UnavailableError(answer);
}

// True if a run may have another value of the variable than the process that it is forked from.
bool MayDiffer(const std::string& name) {
  return name == "TMPDIR" || name == env::kCard.name() || name == env::kCardShared.name() ||
         name == env::kCommand.name() || name == env::kOutput.name() ||
         absl::StartsWith(name, "MEMTRACE_FIT_");
}

bool HasAlike(const launch::Environment& of, const launch::Environment& in) {
  return std::all_of(of.begin(), of.end(), [&in](const auto& variable) {
    const auto found = in.find(variable.first);
    return MayDiffer(variable.first) || (found != in.end() && found->second == variable.second);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ForkServer>> ForkServer::Start(launch::LaunchPlan plan,
                                                              std::unique_ptr<FileLayer> layer) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return Refused("a pair of sockets");
  Descriptor ours(pair[0]);
  plan.prepare = [&layer](launch::Environment& set) {
    MEMTRACE_RETURN_IF_ERROR(layer->Enter(set));
    return FileLayer::KeepRightToEnter();
  };
  pid_t process = -1;
  {
    const Descriptor theirs(pair[1]);    // closed here, so that the end of the process is noticed
    fcntl(theirs.number(), F_SETFD, 0);  // it stays open in the program
    plan.environment[env::kFitForks.name()] = std::to_string(theirs.number());
    MEMTRACE_ASSIGN_OR_RETURN(process, launch::StartProcess(plan));
  }
  plan.prepare = nullptr;  // it was for this process alone
  std::unique_ptr<ForkServer> server(
      new ForkServer(std::move(plan), std::move(layer), ours.Release(), process));
  MEMTRACE_RETURN_IF_ERROR(ReceiveNumber(server->socket_, kMostImportSeconds).status());
  return server;
}

ForkServer::ForkServer(launch::LaunchPlan plan, std::unique_ptr<FileLayer> layer, int socket,
                       pid_t process)
    : plan_(std::move(plan)), layer_(std::move(layer)), socket_(socket), process_(process) {}

ForkServer::~ForkServer() {
  close(socket_);
  kill(-process_, SIGKILL);  // it leads a group, in which its runs are not
  waitpid(process_, nullptr, 0);
}

bool ForkServer::CanRun(const launch::LaunchPlan& plan) const {
  return answers_ && plan.program == plan_.program &&
         HasAlike(plan.environment, plan_.environment) &&
         HasAlike(plan_.environment, plan.environment);
}

absl::StatusOr<pid_t> ForkServer::ForkInto(const FileLayer& layer, const launch::LaunchPlan& plan) {
  const Descriptor request(FileWith(RequestText(plan, layer.working_folder())));
  const Descriptor log(
      open(plan.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (request.number() < 0 || log.number() < 0) return Refused("a file");
  // The run is an orphan for a moment, and becomes a child of this process.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Refused("orphans");
  absl::StatusOr<int> process = Refused("a message");
  if (Send(socket_, {request.number(), log.number(), layer.mounts()}))
    process = ReceiveNumber(socket_, kMostForkSeconds);
  answers_ = process.ok();  // an answer that comes late would be taken for that of the next request
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  return process;
}

absl::StatusOr<pid_t> ForkServer::Fork(const launch::LaunchPlan& plan, FileLayer& layer) {
  MEMTRACE_RETURN_IF_ERROR(layer.MakeFor(*layer_));
  return ForkInto(layer, plan);
}

}  // namespace memtrace::fit
