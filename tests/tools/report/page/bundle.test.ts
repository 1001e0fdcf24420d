// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// bundle.mjs: what it makes can stand in a page, and the build knows what it was made of.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const PAGE = join(import.meta.dirname, "../../../../tools/report/page");
const here = mkdtempSync(join(tmpdir(), "memtrace-bundle-"));
after(() => rmSync(here, { recursive: true }));

// Bundles files that lie beside each other; the first is the main one.
function bundled(files: Record<string, string>): { script: string; sources: string } {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(here, name), text);
  const [main = ""] = Object.keys(files);
  const script = join(here, "script.js");
  execFileSync(process.execPath, [join(PAGE, "bundle.mjs"), join(here, main), script]);
  return { script: readFileSync(script, "utf8"), sources: readFileSync(script + ".d", "utf8") };
}

test("what would end the element is escaped, and nothing but ASCII is left", () => {
  const { script } = bundled({ "main.ts": 'console.log("</script>", /<\\/script/, "é");' });
  assert.doesNotMatch(script, /<\/script/i);
  assert.match(script, /^[\x20-\x7e\n]*$/);
});

test("names stay inside, and the line of a licence stays", () => {
  const { script } = bundled({
    "main.ts": 'import { two } from "./two.ts";\nconsole.log(two());',
    "two.ts": "/*! of somebody */\nexport const two = (): number => 2;",
  });
  assert.match(script, /^(\/\*! of somebody \*\/|\(\(\)=>\{)/);
  assert.match(script, /of somebody/);
});

test("a bundle names all that it is made of", () => {
  const { sources } = bundled({ "main.ts": 'import "./one two.ts";', "one two.ts": "export {};" });
  assert.match(sources, /script\.js: .*one\\ two\.ts .*main\.ts\n$/);
});

test("a style is bundled as well", () => {
  const { script } = bundled({ "main.css": "a  {  color : red ; } /* gone */" });
  assert.equal(script, "a{color:red}\n");
});
