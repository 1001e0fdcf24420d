// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page does beyond its words, which are all there without a script.
import { addCopyButton } from "./ticket.ts";

const ticket = document.getElementById("ticket");
if (ticket) addCopyButton(ticket);
