// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job, in a drawing with the cells where the data say that they are.
import { drawn, element } from "#page/dom.ts";
import { RanksView } from "#page/ranks/view.ts";
import { ranks } from "../support/ranks.ts";

const JOB = ranks();
const { left, top, width, height, rows, columns } = JOB.cells;
const figure = element("figure", { class: "ranks" }, [
  element("div", { class: "wide", role: "group", tabindex: 0, "aria-label": "drawing" }, [
    drawn("svg", { role: "img", "aria-label": "The ranks of the job", viewBox: "0 0 1000 64" }, [
      drawn("rect", {
        class: "k-share_8",
        x: left,
        y: top,
        width: width * columns,
        height: height * rows,
      }),
    ]),
  ]),
]);
document.getElementById("host")!.append(figure);
new RanksView(figure, JOB);
