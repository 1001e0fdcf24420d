// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/python_start.h"
#include "interpose/preload/settings.h"

namespace {

// Nothing else happens in a program that never looks for the driver.
__attribute__((constructor)) void Begin(int argc, char** argv, char** /*environment*/) {
  if (!memtrace::preload::IsSwitchedOff()) memtrace::preload::HookPython(argc, argv);
}

}  // namespace
