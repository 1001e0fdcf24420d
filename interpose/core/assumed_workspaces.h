// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ASSUMED_WORKSPACES_H_
#define MEMTRACE_INTERPOSE_CORE_ASSUMED_WORKSPACES_H_

namespace memtrace {

// From now on, workspaces passed to cuDNN and cuSOLVER of the simulated card get the role workspace
// in the trace and the site "cuDNN workspace, size assumed", so that reports can sum them up. Does
// nothing on a real card.
//
// Thread rule: any thread; the labels are written on the threads that call the libraries.
void LabelAssumedWorkspaces();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ASSUMED_WORKSPACES_H_
