// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// bundle.mjs: its output can be embedded in a page, and the build knows its sources.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

const PAGE = join(import.meta.dirname, "../../../../tools/report/page");
const here = mkdtempSync(join(tmpdir(), "memtrace-bundle-"));
after(() => rmSync(here, { recursive: true }));

// Bundles files in one folder; the first is the main one.
function bundled(files: Record<string, string>): { script: string; sources: string } {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(here, name)), { recursive: true });
    writeFileSync(join(here, name), text);
  }
  const [main = ""] = Object.keys(files);
  const script = join(here, "script.js");
  execFileSync(process.execPath, [join(PAGE, "bundle.mjs"), join(here, main), script]);
  return { script: readFileSync(script, "utf8"), sources: readFileSync(script + ".d", "utf8") };
}

test("text that would end the element is escaped, and only ASCII is left", () => {
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

const PACKAGE = {
  "node_modules/@a/gift/package.json":
    '{ "name": "@a/gift", "version": "1.2.3", "license": "MIT", "main": "index.js" }',
  "node_modules/@a/gift/index.js": 'import "./more.js"; export const gift = 7;',
  "node_modules/@a/gift/more.js": "console.log(8);",
};

test("a package that is bundled is named once, with its licence", () => {
  const { script } = bundled({
    "main.ts": 'import { gift } from "@a/gift";\nconsole.log(gift);',
    ...PACKAGE,
    "node_modules/@a/gift/LICENSE": "The MIT License\n\nCopyright (c) 2022 Ada\n\nPermission",
  });
  const [first, rest] = script.split("\n", 2);
  assert.equal(first, "/*! @a/gift 1.2.3, MIT licence. Copyright (c) 2022 Ada */");
  assert.match(rest!, /^\(\(\)=>\{/);
});

test("a package whose licence names nobody is refused", () => {
  const files = {
    "main.ts": 'import "@a/gift";',
    ...PACKAGE,
    "node_modules/@a/gift/LICENSE": "",
  };
  assert.throws(() => bundled(files), /the licence of @a\/gift names no holder/);
});

test("a bundle names all that it is made of", () => {
  const { sources } = bundled({ "main.ts": 'import "./one two.ts";', "one two.ts": "export {};" });
  assert.match(sources, /script\.js: .*one\\ two\.ts .*main\.ts\n$/);
});

test("a style is bundled as well", () => {
  const { script } = bundled({ "main.css": "a  {  color : red ; } /* gone */" });
  assert.equal(script, "a{color:red}\n");
});
