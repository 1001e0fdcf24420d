# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Expectations of a row about a run and its report. Bytes are exact unless a tolerance is given."""

import re
from collections.abc import Callable

from case_row import Expectation, Seen
from support.json_object import JsonObject

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def expect(words: str) -> Callable[[Callable[[Seen], str]], Expectation]:
    """Names a function that returns a fault, or "", as an expectation."""
    return lambda fault: Expectation(words, fault)


def ends_with(status: int) -> Expectation:
    """The program's (or the answer's) exit status."""
    return Expectation(
        f"exit code {status}",
        lambda seen: "" if seen.status == status else f"exit code {seen.status}: {_last_line(seen.err)}",
    )


def completes() -> Expectation:
    """The program ends by itself with 0, and the headline agrees."""

    def fault(seen: Seen) -> str:
        if seen.status:
            return f"exit code {seen.status}: {_last_line(seen.err)}"
        return _sentence(seen) if _sentence(seen).startswith("OUT OF MEMORY") else ""

    return Expectation("the program completes, and the report is not headed OUT OF MEMORY", fault)


def runs_out(cause: str, line: str = "") -> Expectation:
    """The program runs out of memory for this cause, at this line of the user."""

    def fault(seen: Seen) -> str:
        found = seen.report["verdict"]["cause"]
        if not re.fullmatch(cause, found):
            return f"{found}: {_sentence(seen)}"
        places = [f"{frame['file'].rsplit('/', 1)[-1]}:{frame['line']}" for frame in seen.report["request"]["stack"]]
        return "" if not line or line in places else f"the request was made at {', '.join(places)}"

    return Expectation(f"runs out of memory, cause {cause}" + (f", at {line}" if line else ""), fault)


def requests(count: int, role: str = "") -> Expectation:
    """The bytes of the request that failed, and its role."""

    def fault(seen: Seen) -> str:
        request = seen.report["request"]
        if request["bytes"] != count or role not in ("", request["role"]):
            return f"{request['bytes']:,} bytes of {request['role']}"
        return ""

    return Expectation(f"the request is {count:,} bytes {role}".rstrip(), fault)


def headline(*patterns: str) -> Expectation:
    """Each pattern is found in the verdict's sentence."""
    return Expectation(
        "the verdict says " + " and ".join(patterns),
        lambda seen: "" if all(_found(pattern, _sentence(seen)) for pattern in patterns) else _sentence(seen),
    )


def headline_lacks(*patterns: str) -> Expectation:
    """No pattern is found in the verdict's sentence."""
    return Expectation(
        "the verdict does not say " + " or ".join(patterns),
        lambda seen: _sentence(seen) if any(_found(pattern, _sentence(seen)) for pattern in patterns) else "",
    )


def says(*patterns: str) -> Expectation:
    """Each pattern is found somewhere in the text, whose lines are joined."""

    def fault(seen: Seen) -> str:
        missing = [pattern for pattern in patterns if not _found(pattern, seen.said)]
        return f"nothing like {' or '.join(missing)}" if missing else ""

    return Expectation("the text says " + " and ".join(patterns), fault)


def says_nothing_of(*patterns: str) -> Expectation:
    """No pattern is found anywhere in the text."""

    def fault(seen: Seen) -> str:
        matches = [match for pattern in patterns if (match := re.search(pattern, seen.said, re.IGNORECASE))]
        return "; ".join(seen.said[max(0, match.start() - 40) : match.end() + 40] for match in matches)

    return Expectation("the text says nothing like " + " or ".join(patterns), fault)


def holds(
    count: int = 0, *, line: str = "", role: str = "", site: str = "", within: int = 0, first: bool = False
) -> Expectation:
    """One row of WHO HOLDS THE MEMORY that matches, or all that match, have these bytes.

    With `first`, the largest row of all matches.
    """

    def matches(row: JsonObject) -> bool:
        is_there = not line or line in (row["line"], row["site"])
        return is_there and role in ("", row["role"]) and (not site or bool(re.search(site, row["site"])))

    def fault(seen: Seen) -> str:
        rows = seen.report["holdings"]
        each = [row["bytes"] for row in rows if matches(row)]
        found = sum(each)
        right = any(abs(part - count) <= within for part in (found, *each)) if count else found > 0
        if right and (not first or matches(rows[0])):
            return ""
        largest = ", ".join(f"{row['role']} {row['site']} {row['line']} {row['bytes']:,}" for row in rows[:4])
        return f"{found:,} bytes; the largest rows are {largest}"

    what = " ".join(word for word in (role, site, line) if word)
    return Expectation(f"{what} holds {count:,} bytes" if count else f"{what} is a row of the holders", fault)


def ledger(name: str, count: int, within: int = 0) -> Expectation:
    """An entry of the ledger."""

    def fault(seen: Seen) -> str:
        found = _entry(seen, name)
        return "" if abs(found - count) <= within else f"{found:,} bytes"

    return Expectation(f"{name} is {count:,} bytes", fault)


def advises(
    pattern: str, *, fits: bool | None = None, first: bool = False, need: float = 0, within: float = 0
) -> Expectation:
    """A row of the remedies matches in its name or its change.

    With `fits` the row says that it fits (or that it does not); with `first` it is the first row; `need` is the need
    of the card in GiB that it predicts.
    """

    def fault(seen: Seen) -> str:
        rows = seen.report["remedies"]
        found = [row for row in (rows[:1] if first else rows) if _found(pattern, _words(row))]
        if not found:
            return f"the rows are {', '.join(row['name'] for row in rows) or 'none'}"
        if fits is not None and not any(_fits(seen, row) == fits for row in found):
            return f"{found[0]['name']}: {_need(found[0]) / GIB:.2f} GiB of a card of {_card(seen) / GIB:.2f}"
        if need and not any(abs(_need(row) / GIB - need) <= (within or 0.02 * need) for row in found):
            return f"{found[0]['name']} needs {_need(found[0]) / GIB:.2f} GiB"
        return ""

    place = "first, " if first else ""
    outcome = {None: "", True: ", which fits", False: ", which is not enough alone"}[fits]
    return Expectation(f"{place}the cure /{pattern}/{outcome}" + (f", {need} GiB" if need else ""), fault)


def advises_nothing_like(*patterns: str) -> Expectation:
    """No row of the remedies matches."""

    def fault(seen: Seen) -> str:
        rows = [_words(row) for row in seen.report["remedies"]]
        return "; ".join(row for row in rows if any(_found(pattern, row) for pattern in patterns))

    return Expectation("no cure like " + ", ".join(patterns), fault)


def claims_no_fit_of(*patterns: str) -> Expectation:
    """A row that matches may be there, but does not say that it fits."""

    def fault(seen: Seen) -> str:
        rows = [_words(row) for row in seen.report["remedies"] if _fits(seen, row)]
        return "; ".join(row for row in rows if any(_found(pattern, row) for pattern in patterns))

    return Expectation("no cure like " + ", ".join(patterns) + " is said to fit", fault)


def nothing_fits_but(*patterns: str) -> Expectation:
    """Every row that says that it fits matches one of the patterns."""

    def fault(seen: Seen) -> str:
        rows = [row for row in seen.report["remedies"] if _fits(seen, row)]
        return "; ".join(row["name"] for row in rows if not any(_found(pattern, _words(row)) for pattern in patterns))

    return Expectation("no cure is said to fit" + (" but " + ", ".join(patterns) if patterns else ""), fault)


def needs_card(size: float, within: float = 0.05) -> Expectation:
    """The need of the row "a larger card", in GiB."""

    def fault(seen: Seen) -> str:
        found = [_need(row) / GIB for row in seen.report["remedies"] if _found("larger card", row["name"])]
        return "" if found and abs(found[0] - size) <= within else f"{found}"

    return Expectation(f"a larger card needs {size} GiB", fault)


def grows(bytes_per_step: int = 0, *, line: str = "", within: int = 0) -> Expectation:
    """A site of the growth has this line and this slope."""

    def fault(seen: Seen) -> str:
        sites = seen.report["growth"]["sites"]
        for site in sites:
            is_there = not line or any(re.fullmatch(line, str(place)) for place in (site["site"], site.get("line")))
            if is_there and (not bytes_per_step or abs(site["bytes_per_step"] - bytes_per_step) <= within):
                return ""
        told = ", ".join(f"{site['site']} {site.get('line', '')} by {site['bytes_per_step']:,}" for site in sites[:4])
        return told or "no site grows"

    return Expectation(f"{line or 'a site'} grows" + (f" by {bytes_per_step:,} bytes" if bytes_per_step else ""), fault)


def grows_as_printed(pattern: str, *, unit: float, within: float = 0.05) -> Expectation:
    """The fastest site grows as the program's own prints of its step and its allocated memory say."""

    def fault(seen: Seen) -> str:
        points = [(int(step), float(amount) * unit) for step, amount in re.findall(pattern, seen.out)]
        (first, least), (last, most) = points[len(points) // 2], points[-1]
        printed = (most - least) / (last - first)
        told = sum(site["bytes_per_step"] for site in seen.report["growth"]["sites"])
        return "" if abs(told - printed) <= within * printed else f"{told:,} in all; the program says {printed:,.0f}"

    return Expectation("the growth is what the program itself prints", fault)


def free_is_as_printed(pattern: str, *, unit: int) -> Expectation:
    """The ledger's free bytes are those that `mem_get_info` told the program, and the context is counted."""

    def fault(seen: Seen) -> str:
        match = re.search(pattern, seen.out)
        printed = float(match[1]) * unit if match else -1
        right = abs(_entry(seen, "free") - printed) <= 0.01 * unit + MIB and _entry(seen, "context") > 0
        return (
            ""
            if right
            else f"free {_entry(seen, 'free'):,}, context {_entry(seen, 'context'):,}; torch: {printed:,.0f}"
        )

    return Expectation("free is what mem_get_info said, and the context counts", fault)


def ledger_is_sound() -> Expectation:
    """No entry is negative, and no more bytes are called cached than could be given back."""

    def fault(seen: Seen) -> str:
        negative = [entry for entry in seen.report["ledger"] if entry["bytes"] < 0]
        negative += [entry for entry in seen.report["scratch"] if entry["stays"] < 0]
        releasable = seen.report["fragmentation"]["releasable"]
        if _entry(seen, "cached") > releasable:
            return f"{_entry(seen, 'cached'):,} are cached and {releasable:,} releasable"
        return f"{negative}" if negative else ""

    return Expectation("nothing in the ledger is negative, and what is cached can be given back", fault)


def outside(count: int, site: str) -> Expectation:
    """A row of the memory outside the allocator."""

    def fault(seen: Seen) -> str:
        rows = seen.report.get("outside", [])
        return "" if any(row["bytes"] == count and row["site"] == site for row in rows) else f"{rows}"

    return Expectation(f"{site} took {count:,} bytes outside the allocator", fault)


def host_peak_below(pattern: str, most: int) -> Expectation:
    """The host's peak, in MiB, as the program prints it."""

    def fault(seen: Seen) -> str:
        match = re.search(pattern, seen.out)
        return "" if match and int(match[1]) < most else f"{match and match[1]} MiB"

    return Expectation(f"the host's peak is below {most} MiB", fault)


def prints(*patterns: str) -> Expectation:
    """The program's own output, which the simulated card decides."""

    def fault(seen: Seen) -> str:
        return "" if all(_found(pattern, seen.out) for pattern in patterns) else " / ".join(seen.out.splitlines()[-4:])

    return Expectation("the program prints " + " and ".join(patterns), fault)


def prints_nothing_like(*patterns: str) -> Expectation:
    """The program's own output has no such text."""

    def fault(seen: Seen) -> str:
        lines = seen.out.splitlines()
        return "; ".join(line[:120] for line in lines if any(_found(pattern, line) for pattern in patterns))

    return Expectation("the program prints nothing like " + " or ".join(patterns), fault)


def ends_without_a_crash() -> Expectation:
    """The verb ends with a report, or with a sentence on stderr and an exit code of memtrace's own."""

    def fault(seen: Seen) -> str:
        is_told = seen.status in (0, 1) or (seen.status in (3, 4) and seen.err.startswith("memtrace"))
        return "" if is_told and "CHECK" not in seen.err else f"exit code {seen.status}: {_last_line(seen.err)}"

    return Expectation("a report, or a sentence and exit code 3 or 4", fault)


def is_silent_about(*patterns: str) -> Expectation:
    """The program's own error output has no such text."""

    def fault(seen: Seen) -> str:
        return "; ".join(line for line in seen.err.splitlines() if any(_found(pattern, line) for pattern in patterns))

    return Expectation("stderr says nothing like " + " or ".join(patterns), fault)


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _sentence(seen: Seen) -> str:
    return str(seen.report["verdict"]["sentence"])


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:200]


def _entry(seen: Seen, name: str) -> int:
    return next(int(entry["bytes"]) for entry in seen.report["ledger"] if entry["name"] == name)


def _words(row: JsonObject) -> str:
    return f"{row['name']}: {row['change']}"


def _need(row: JsonObject) -> int:
    return int(row["predicted_peak"])


def _card(seen: Seen) -> int:
    return int(seen.report["card"]["bytes"])


def _fits(seen: Seen, row: JsonObject) -> bool:
    return _need(row) <= _card(seen) and not row.get("at_least")
