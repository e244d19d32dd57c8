# SPDX-License-Identifier: MIT
"""Sentences on what a reader should look at first: a slow processor, a dense zone, ranks that wait."""
from statistics import mean, median

from .tables import is_number


def findings(run):
    """[{"text", "see": section of the page}, ...], the weightiest first. run: as read_run() makes it."""
    found = [*verdict(run), *slow_processes(run), *uneven_ranks(run), *dense_zone(run)]
    return found or [{"text": "Nothing stands out.", "see": "map"}]


def percent(part):
    return f"{100 * part:.0f} %"


def listed(numbers):
    """1, 2, 5 to 9."""
    runs = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [str(a) if a == b else f"{a} to {b}" for a, b in runs]
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def plural(what, numbers):
    return (what if len(numbers) == 1 else f"{what}s" if what[-1] != "s" else f"{what}es") + " " + listed(numbers)


def verdict(run):
    worth = run["summary"].get("worth")
    net = worth.get("net") if isinstance(worth, dict) else None
    if not isinstance(net, dict) or not all(is_number(net.get(k)) for k in ("seconds", "without_seconds", "saved")):
        return []
    saved = net["saved"]
    longer = f"{percent(abs(saved))} {'shorter' if saved >= 0 else 'longer'}"
    if net.get("of") == "run":
        seconds = f"{net['seconds']:.3g} s instead of about {net['without_seconds']:.3g} s, balancing itself included"
        return [{"text": f"Balancing made this run {longer}: {seconds}.", "see": "balance"}]
    processes = run["summary"].get("processes")
    return [{"text": f"Balancing makes computing {longer} for {processes} virtual processes.", "see": "balance"}]


def slow_processes(run):
    speeds = run["resources"] and [s for s in run["resources"]["speed"][-1]]
    if not speeds or not all(is_number(s) for s in speeds):
        return []
    usual = median(speeds)
    slow = [p for p, s in zip(run["resources"]["resource"][-1], speeds) if s < 0.85 * usual]
    if not slow:
        return []
    worst = min(speeds) / usual
    many = f"{plural('Process', slow)} run{'s' if len(slow) == 1 else ''}"
    return [{"text": f"{many} on slow processors: down to {worst:.2f} of the usual speed.", "see": "speeds"}]


def uneven_ranks(run):
    """Who computes longest, and who waits."""
    ranks = run["ranks"]
    if not ranks or len(ranks["wall_seconds"][-1]) < 2:
        return []
    if covered(run) < 0.8:
        return uneven_by_summary(run["summary"])
    size = len(ranks["wall_seconds"][-1])
    of = [i for i, row in enumerate(ranks["wall_seconds"]) if len(row) == size]
    steps = [ranks["step"][i] - ranks["from"][i] for i in of]

    def total(name):
        rows = [ranks[name][i] for i in of] if name in ranks else []
        return [sum(row[r] * n for row, n in zip(rows, steps)) for r in range(size)]

    wall = mean(total("wall_seconds"))
    compute = [a + b for a, b in zip(total("forces"), total("neighbours"))]
    ghosts = total("ghosts")
    if wall <= 0 or mean(compute) <= 0:
        return []
    found = []
    usual, busiest = median(compute), max(range(size), key=compute.__getitem__)
    if compute[busiest] > 1.15 * mean(compute):
        slow = [r for r in range(size) if compute[r] > 0.5 * (usual + compute[busiest])]
        text = f"{plural('Rank', slow)} compute{'s' if len(slow) == 1 else ''} longest,"
        text += f" {compute[busiest] / mean(compute):.2f} times the mean: the others wait for it."
        each = [c / max(1, n or 0) for c, n in zip(compute, ranks["particles"])]  # a particle
        if len(each) == size and each[busiest] > 1.3 * median(each):
            text += f" A particle takes {each[busiest] / median(each):.1f} times as long there as usual:"
            text += " the processor is slow, or the particles lie dense."
        elif len(each) == size:
            text += " It has more particles, not a slower processor."
        found.append({"text": text, "see": "ranks"})
    waits = mean(total("wait_seconds")) if "wait_seconds" in ranks else 0
    if waits > 0.1 * wall or mean(ghosts) > 0.1 * wall:
        late = max(range(size), key=ghosts.__getitem__)
        uneven = sum(uneven_seconds(ranks, i) * n for i, n in zip(of, steps))
        found.append(waiting(mean(ghosts), wall, uneven, f" Longest on rank {late}."))
    return found


def covered(run):
    """What part of the steps since the last start of the program the frames of ranks.csv tell of."""
    first = run["summary"].get("first_step") or (run["starts"] or [0])[-1]
    steps = (run["steps"] or 0) - first
    spans = zip(run["ranks"]["from"], run["ranks"]["step"])
    return sum(end - begin for begin, end in spans if begin >= first) / steps if steps > 0 else 1


def uneven_by_summary(summary):
    """The same of the whole run, where frames of ranks tell of a part of it: which rank it is, is not known then."""
    phases, wall = summary.get("seconds") or {}, summary.get("wall_seconds")
    forces, ghosts = (phases.get(name) for name in ("forces", "ghosts"))
    if not wall or not all(
        isinstance(p, dict) and is_number(p.get("mean")) and is_number(p.get("max")) for p in (forces, ghosts)
    ):
        return []
    found = []
    if forces["max"] > 1.15 * forces["mean"] > 0:
        text = f"One rank computes forces {forces['max'] / forces['mean']:.2f} times as long as the mean of all:"
        found.append({"text": f"{text} the others wait for it.", "see": "ranks"})
    if ghosts["mean"] > 0.1 * wall:
        found.append(waiting(ghosts["mean"], wall, forces["max"] - forces["mean"], ""))
    return found


def waiting(ghosts, wall, uneven, where):
    """ghosts: seconds of the mean rank; uneven: those that differences in computing explain."""
    why = (
        "about what the differences in computing between the ranks explain"
        if uneven > 0.6 * ghosts
        else "more than differences in computing explain: messages are late, or ranks share cores"
    )
    text = f"{percent(ghosts / wall)} of the time goes into ghosts and waiting for them, {why}.{where}"
    return {"text": text, "see": "ranks"}


def uneven_seconds(ranks, interval):
    """What the mean rank waits for the one that computes longest, seconds a step."""
    compute = [a + b for a, b in zip(ranks["forces"][interval], ranks["neighbours"][interval])]
    return max(compute) - mean(compute)


def dense_zone(run):
    frames = run["map"] or {}
    for name, words in (("load", "carries {} of the load"), ("particles", "holds {} of the particles")):
        values = sorted((v for v in frames.get(name, [[]])[-1] if is_number(v)), reverse=True)
        if sum(values) > 0:
            tenth = sum(values[: max(1, len(values) // 10)]) / sum(values)
            text = f"A tenth of the box {words.format(percent(tenth))} at step {frames['step'][-1]:,}."
            if run["partition"]:
                text = f"A tenth of the box {words.format(percent(tenth))}."
            return [{"text": text, "see": "map"}] if tenth >= 0.25 else []
    return []
