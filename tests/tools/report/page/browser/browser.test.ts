// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that forbidden actions of a page are detected, on which the other tests rely.
import { onPage } from "./browser.ts";
import { pageOfHtml } from "./programs.ts";

const image = "https://there.invalid/image.png";
const loads = ["console: Failed to load resource: net::ERR_FAILED"];

onPage(
  "a request of a page is seen and refused",
  () => pageOfHtml(`<!doctype html><img src="${image}">`),
  async () => {},
  { faults: [`request: ${image}`, ...loads] },
);

onPage(
  "a request for a file is seen and refused",
  () => pageOfHtml(`<!doctype html><img src="file:///image.png">`),
  async () => {},
  { faults: ["request: file:///image.png", ...loads] },
);

onPage(
  "the console and the errors of a script are seen",
  () => pageOfHtml("<!doctype html><script>console.log('hello'); throw Error('oh')</script>"),
  async () => {},
  { faults: ["console: hello", "error: oh"] },
);

onPage(
  "a violation of the policy is seen",
  () =>
    pageOfHtml(
      `<!doctype html><meta http-equiv="Content-Security-Policy" content="img-src 'none'"><img src="${image}">`,
    ),
  async () => {},
  {
    faults: [
      `console: Loading the image '${image}' violates the following Content Security Policy directive: "img-src 'none'". The action has been blocked.`,
      `request: ${image}`,
    ],
  },
);
