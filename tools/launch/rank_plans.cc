// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/rank_plans.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "tools/launch/launcher_command.h"

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

// Returns a port of this machine that is free now; 0 if there is none.
int FreePort() {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  auto* pointer = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound =
      opened >= 0 && bind(opened, pointer, bytes) == 0 && getsockname(opened, pointer, &bytes) == 0;
  if (opened >= 0) close(opened);
  return is_bound ? ntohs(address.sin_port) : 0;
}

// Sets what torchrun sets (torch/distributed/run.py, "Environment Variables"). torchrun's own store
// and restarts are left out: the lowest real rank hosts the store.
void AddRank(const JobRanks& job, int rank, const std::string& port, Environment* environment) {
  const int machine = job.MachineOf(rank);
  const std::pair<const char*, int> numbers[] = {{env::kRank.name(), rank},
                                                 {env::kWorldSize.name(), job.world},
                                                 {env::kLocalRank.name(), job.CardOf(rank)},
                                                 {"LOCAL_WORLD_SIZE", job.RanksOn(machine)},
                                                 {"GROUP_RANK", machine},
                                                 {"GROUP_WORLD_SIZE", job.Machines()},
                                                 {"ROLE_RANK", rank},
                                                 {"ROLE_WORLD_SIZE", job.world}};
  for (const auto& [name, number] : numbers) (*environment)[name] = std::to_string(number);
  (*environment)["ROLE_NAME"] = "default";
  (*environment)["MASTER_ADDR"] = "127.0.0.1";
  (*environment)["MASTER_PORT"] = port;
  environment->emplace("OMP_NUM_THREADS", "1");
  (*environment)[env::kRealRanks.name()] = absl::StrJoin(job.real, ",");
}

absl::Status MakeFolder(const std::string& output) {
  std::error_code error;
  if (!output.ends_with('/') || fs::is_directory(output, error)) return absl::OkStatus();
  fs::create_directories(output, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot make the folder ", output,
                                                 " for the traces (", error.message(),
                                                 "); choose another with -o"));
}

}  // namespace

std::string OutputOfRank(const std::string& output, int rank) {
  if (output.empty()) return "";
  const std::string name = absl::StrCat("rank-", rank);
  std::error_code ignored;
  if (output.ends_with('/') || fs::is_directory(output, ignored))
    return (fs::path(output) / (name + ".trace")).string();
  fs::path path = output;
  const std::string extension = path.extension().string();
  return path.replace_extension(name + extension).string();
}

absl::StatusOr<std::vector<LaunchPlan>> PlanRanks(const LaunchRequest& request, const JobRanks& job,
                                                  const Environment& environment) {
  LaunchRequest of_rank = request;
  MEMTRACE_ASSIGN_OR_RETURN(of_rank.command, CommandOfRank(request.command, job));
  if (!IsSwitchedOff(environment)) MEMTRACE_RETURN_IF_ERROR(MakeFolder(request.output));
  const std::string port = std::to_string(FreePort());
  std::vector<LaunchPlan> plans;
  for (size_t i = 0; i < job.real.size(); ++i) {
    const int rank = job.real[i];
    of_rank.machine = job.MachineOf(rank);
    of_rank.output = OutputOfRank(request.output, rank);
    MEMTRACE_ASSIGN_OR_RETURN(LaunchPlan plan, PlanLaunch(of_rank, environment));
    AddRank(job, rank, port, &plan.environment);
    if (i < job.alike.size())
      plan.environment[env::kRanksAlike.name()] = std::to_string(job.alike[i]);
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace memtrace::launch
