// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/layered_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/files/bound_sockets.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

// Returns why the last call failed, to be read before the next one.
const char* Reason() { return std::strerror(errno); }

absl::Status RefusedPath(const std::string& path) {
  return absl::UnavailableError(Message("the kernel refused access to $0: $1", path, Reason()));
}

absl::Status RefusedLayer(const std::string& path) {
  return absl::UnavailableError(Message("the kernel refused a layer over $0: $1", path, Reason()));
}

// Makes the folder and those above it that are missing; false leaves the reason in errno.
bool MakeFolder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) errno = error.value();
  return !error;
}

std::string TextOf(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool Write(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// Escapes a path for overlay, which separates options by commas and lower folders by colons.
std::string Escaped(const std::string& path) {
  std::string escaped;
  for (const char letter : path) {
    if (letter == '\\' || letter == ',' || letter == ':') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

bool Bind(const std::string& from, const std::string& to, unsigned long more = 0) {
  return mount(from.c_str(), to.c_str(), nullptr, MS_BIND | more, nullptr) == 0;
}

bool MakeReadOnly(const std::string& path) {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  constexpr unsigned int kRecursive = 0x8000;  // AT_RECURSIVE, which older headers lack
  return syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), kRecursive, &attributes,
                 sizeof(attributes)) == 0;
}

// Makes a folder with the mode and owner of `like`, but keeps this process's owner if it may not
// give another.
bool MakeFolderLike(const fs::path& path, const std::string& like) {
  constexpr mode_t kModeBits = 07777;
  struct stat status = {};
  if (stat(like.c_str(), &status) != 0 || mkdir(path.c_str(), S_IRWXU) != 0) return false;
  if (chown(path.c_str(), status.st_uid, status.st_gid) != 0) errno = 0;
  return chmod(path.c_str(), status.st_mode & kModeBits) == 0;
}

bool IsForeignButWritable(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode) &&
         (status.st_uid != geteuid() || status.st_gid != getegid()) &&
         access(path.c_str(), W_OK) == 0;
}

// Returns the folder, or an entry of it, that this user may write to although its owner or group is
// another. An overlay in a user namespace that knows neither refuses it (EOVERFLOW). Empty if none.
std::string FindForeignButWritable(const fs::path& folder) {
  if (IsForeignButWritable(folder)) return folder;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (IsForeignButWritable(entry->path())) return entry->path();
  return "";
}

// True if each user maps to itself, as in the machine's first user namespace.
bool IsFirstUserNamespace() {
  std::istringstream map(TextOf("/proc/self/uid_map"));
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  constexpr uint64_t kAll = 4294967295;
  return map >> inside >> outside >> count && inside == 0 && outside == 0 && count == kAll;
}

}  // namespace

absl::Status LayeredRoot::Enter() {
  for (auto step : {&LayeredRoot::EnterNamespaces, &LayeredRoot::MountMemory,
                    &LayeredRoot::PlaceAll, &LayeredRoot::BindUnlayeredPaths}) {
    if (absl::Status done = (this->*step)(); !done.ok()) return done;
  }
  MEMTRACE_RETURN_IF_ERROR(WritePlaces());
  return MakeRoot();
}

// Uses the right to mount if this user has it, else a user namespace, if the kernel allows that.
absl::Status LayeredRoot::EnterNamespaces() {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (const std::string others = FindForeignButWritable(plan_.working_folder); !others.empty())
      return absl::UnavailableError(
          Message("the kernel refuses a layer over $0, which has another owner or group", others));
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      return absl::UnavailableError(Message("the kernel refused a mount namespace: $0", Reason()));
    const bool is_mapped = Write("/proc/self/setgroups", "deny") &&
                           Write("/proc/self/uid_map", absl::StrCat(user, " ", user, " 1")) &&
                           Write("/proc/self/gid_map", absl::StrCat(group, " ", group, " 1"));
    if (!is_mapped)
      return absl::UnavailableError(
          Message("the kernel refused the users of a user namespace: $0", Reason()));
    has_made_users_ = true;
  }
  has_own_users_ = !IsFirstUserNamespace();
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return absl::UnavailableError(
        Message("the kernel refused to keep mounts private: $0", Reason()));
  return absl::OkStatus();
}

absl::Status LayeredRoot::MountMemory() {
  mounts_ = ParseMountTable(TextOf("/proc/self/mountinfo"));
  files_ = plan_.scratch / "layer";
  if (!MakeFolder(files_) || !MakeFolder(plan_.scratch / kTemporaryFolder))
    return RefusedPath(plan_.scratch.string());
  const std::string options = absl::StrCat("mode=0700,size=", plan_.bytes);
  if (mount("memtrace", files_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return absl::UnavailableError(
        Message("the kernel refused a file system in memory: $0", Reason()));
  for (const char* folder : {kUpperFolders, "work", kTemporaryFolder, "root"})
    if (!MakeFolder(files_ / folder)) return RefusedPath((files_ / folder).string());
  memory_ = open(files_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return memory_ < 0 ? RefusedPath(files_.string()) : absl::OkStatus();
}

absl::Status LayeredRoot::PlaceAll() {
  for (const Mount& mount : mounts_) {
    const bool is_there = std::any_of(whole_.begin(), whole_.end(), [&mount](const auto& place) {
      return IsWithin(mount.path, place);
    });
    struct stat status = {};
    // A mount point that another mount hides cannot be reached.
    if (is_there || lstat(mount.path.c_str(), &status) != 0 ||
        lstat(Target(mount.path).c_str(), &status) != 0)
      continue;
    if (absl::Status placed = PlaceMount(mount); !placed.ok()) return placed;
  }
  return absl::OkStatus();
}

absl::Status LayeredRoot::PlaceMount(const Mount& mount) {
  std::error_code error;
  const bool is_folder = fs::is_directory(mount.path, error);
  if (IsKernelFileSystem(mount) || (mount.is_read_only && !HasMountBelow(mount.path))) {
    whole_.push_back(mount.path);
    if (Bind(mount.path, Target(mount.path), MS_REC)) return absl::OkStatus();
    return RefusedPath(mount.path);
  }
  absl::Status placed = is_folder ? PlaceFolder(mount.path, mount.is_read_only)
                                  : absl::UnavailableError("not a folder");
  const bool is_needed =
      mount.path == "/" ||
      std::any_of(plan_.needed.begin(), plan_.needed.end(), [&mount](const fs::path& needed) {
        return IsWithin(needed.native(), mount.path);
      });
  if (placed.ok() || (is_folder && is_needed)) return placed;
  whole_.push_back(mount.path);
  return BindReadOnly(mount.path);
}

// In a user namespace the kernel does not show part of the inherited mounts without the mounts in
// it. So a folder with mounts in it gets no layer there; its entries get layers.
absl::Status LayeredRoot::PlaceFolder(const std::string& path, bool is_read_only) {
  absl::Status overlaid = Overlay(path, is_read_only);
  if (overlaid.ok() || !HasMountBelow(path)) return overlaid;
  if (std::find(plan_.needed.begin(), plan_.needed.end(), path) != plan_.needed.end()) {
    return absl::UnavailableError(
        Message("$0; other file systems are mounted in it", std::string(overlaid.message())));
  }
  return PlaceEntries(path);
}

absl::Status LayeredRoot::Overlay(const std::string& path, bool is_read_only) {
  const std::string number = std::to_string(places_.size());
  const fs::path upper = files_ / kUpperFolders / number;
  const fs::path work = files_ / "work" / number;
  std::error_code error;
  fs::remove_all(upper, error);
  fs::create_directories(work, error);
  if (!MakeFolderLike(upper, path)) return RefusedLayer(path);
  const std::string options = absl::StrCat(
      "lowerdir=", Escaped(path), ",upperdir=", Escaped(upper.native()),
      ",workdir=", Escaped(work.native()), has_own_users_ ? ",userxattr" : ",redirect_dir=on");
  if (mount("memtrace", Target(path).c_str(), "overlay", is_read_only ? MS_RDONLY : 0,
            options.c_str()) != 0)
    return RefusedLayer(path);
  places_.push_back(path);
  return absl::OkStatus();
}

absl::Status LayeredRoot::PlaceEntries(const std::string& path) {
  if (path == "/" && !Bind(Target(path), Target(path)))
    return absl::UnavailableError(
        Message("the kernel refused a root folder for the run: $0", Reason()));
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return RefusedPath(path);
  absl::Status placed;
  while (placed.ok()) {
    errno = 0;  // the only sign by which an error differs from the end
    const dirent* entry = readdir(folder);
    if (entry == nullptr && errno != 0) placed = RefusedPath(path);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    placed = PlaceEntry(absl::StrCat(path == "/" ? "" : path, "/", name));
  }
  closedir(folder);
  constexpr mode_t kReadOnly = 0555;  // files made beside the entries would not be kept
  chmod(Target(path).c_str(), kReadOnly);
  return placed;
}

absl::Status LayeredRoot::PlaceEntry(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();  // it has been removed meanwhile
  std::error_code error;
  if (S_ISLNK(status.st_mode)) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) return absl::OkStatus();  // it has been removed meanwhile
    fs::create_symlink(target, Target(path), error);
    const bool is_there = !error || error == std::errc::file_exists;
    return is_there ? absl::OkStatus() : RefusedPath(path);
  }
  if (S_ISDIR(status.st_mode)) {
    fs::create_directory(Target(path), error);
    const bool is_mount = std::any_of(mounts_.begin(), mounts_.end(),
                                      [&path](const Mount& mount) { return mount.path == path; });
    if (is_mount) return absl::OkStatus();  // PlaceAll comes to it later
    const bool is_seen = access(path.c_str(), R_OK | X_OK) == 0;
    return is_seen || HasMountBelow(path) ? PlaceFolder(path, false) : absl::OkStatus();
  }
  std::ofstream(Target(path)).close();
  return BindReadOnly(path);
}

absl::Status LayeredRoot::BindReadOnly(const std::string& path) {
  if (Bind(path, Target(path), MS_REC) && MakeReadOnly(Target(path))) return absl::OkStatus();
  return absl::UnavailableError(
      Message("the kernel refused to show $0 read-only: $1", path, Reason()));
}

// Shows the run's own folder and the caches, and sockets, because a layer would cut them off from
// the processes that listen.
absl::Status LayeredRoot::BindUnlayeredPaths() {
  if (!Bind(plan_.scratch, Target(plan_.scratch)) ||
      !Bind(files_ / kTemporaryFolder, Target(plan_.scratch / kTemporaryFolder)))
    return RefusedPath(plan_.scratch.string());
  for (const fs::path& path : plan_.seen) {
    std::error_code error;
    if (fs::is_directory(path, error) && !Bind(path, Target(path), MS_REC))
      return RefusedPath(path.string());
  }
  for (const std::string& socket : BoundSockets(TextOf("/proc/net/unix"))) {
    struct stat status = {};
    if (lstat(socket.c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
      Bind(socket, Target(socket));  // a removed socket connects nobody
  }
  return absl::OkStatus();
}

absl::Status LayeredRoot::WritePlaces() const {
  std::ofstream file(files_ / kPlacesFile);
  for (const std::string& place : places_) file << place << '\0';
  file.close();
  return file.good() ? absl::OkStatus() : RefusedPath((files_ / kPlacesFile).string());
}

// For a moment the old root lies over the new one, then it is unmounted (pivot_root(2), "."), so
// that no path leads to it.
absl::Status LayeredRoot::MakeRoot() const {
  const bool is_root = chdir(Target("/").c_str()) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
                       umount2(".", MNT_DETACH) == 0;
  if (!is_root)
    return absl::UnavailableError(
        Message("the kernel refused to change the root folder: $0", Reason()));
  if (chdir(plan_.working_folder.c_str()) != 0) return RefusedPath(plan_.working_folder.string());
  return absl::OkStatus();
}

bool LayeredRoot::HasMountBelow(const std::string& path) const {
  return std::any_of(mounts_.begin(), mounts_.end(), [&path](const Mount& mount) {
    return mount.path != path && IsWithin(mount.path, path);
  });
}

std::string LayeredRoot::Target(const std::string& path) const {
  return (files_ / "root").native() + (path == "/" ? "" : path);
}

}  // namespace memtrace::fit
