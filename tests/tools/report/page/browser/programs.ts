// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages made by the built program, in a temporary folder that is removed after the tests.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

const ROOT = join(import.meta.dirname, "../../../../..");
const BUILD = process.env["MEMTRACE_BUILD"] ?? join(ROOT, "build/dev");

/** Returns the path of a file in the repository. */
export const filePath = (path: string): string => join(ROOT, path);
export const fileText = (path: string): string => readFileSync(filePath(path), "utf8");

/** Returns a trace of tests/golden in its text form. */
export const golden = (name: string): string => fileText(`tests/golden/${name}.trace.txt`);

/**
 * Makes the page of a trace that is given as text (profiler/trace/text/text_trace.h). Returns its
 * path. `edit` changes the page afterwards.
 */
export function pageOf(traceText: string, edit?: (html: string) => string): string {
  const page = pageOfFile(traceOf(traceText));
  if (edit) writeFileSync(page, edit(readFileSync(page, "utf8")));
  return page;
}

/** Writes a trace file. Returns its path. */
function traceOf(text: string): string {
  const here = folder();
  writeFileSync(join(here, "run.trace.txt"), text);
  run("tests/support/trace_text", join(here, "run.trace.txt"), join(here, "run.trace"));
  return join(here, "run.trace");
}

/** Makes the page that compares two traces, given as text. Returns its path. */
export const diffPageOf = (before: string, after: string): string =>
  diffPage(traceOf(before), traceOf(after));

/** Makes the page that compares two moments of a trace. */
export const momentsPageOf = (trace: string, before: string, after: string): string =>
  diffPage("--at", before, "--at", after, traceOf(trace));

function diffPage(...words: string[]): string {
  const page = join(folder(), "page.html");
  run("memtrace", "diff", "-o", page, ...words);
  return page;
}

/** Makes the page of a folder with traces, given as text by their names. Returns its path. */
export function jobPageOf(traces: Readonly<Record<string, string>>): string {
  const [here, job] = [folder(), folder()];
  for (const [name, text] of Object.entries(traces)) {
    writeFileSync(join(here, `${name}.txt`), text);
    run("tests/support/trace_text", join(here, `${name}.txt`), join(job, name));
  }
  const page = join(here, "page.html");
  run("memtrace", "report", "-o", page, job);
  return page;
}

/** Makes the page of a trace file. Returns its path. */
export function pageOfFile(trace: string): string {
  const page = join(folder(), "page.html");
  run("memtrace", "report", "-o", page, trace);
  return page;
}

/** Writes a page from given HTML. Returns its path. */
export function pageOfHtml(html: string): string {
  const page = join(folder(), "page.html");
  writeFileSync(page, html);
  return page;
}

const folders: string[] = [];
after(() => folders.forEach((path) => rmSync(path, { recursive: true })));

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "memtrace-page-"));
  folders.push(path);
  return path;
}

function run(program: string, ...words: string[]): void {
  execFileSync(join(BUILD, program), words, { stdio: ["ignore", "ignore", "pipe"] });
}
