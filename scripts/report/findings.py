# SPDX-License-Identifier: MIT
"""Sentences on what a reader should look at first: a slow processor, a dense zone, ranks that wait."""
from statistics import mean, median, median_high

from .tables import is_number, switched_off


COMPUTING = ("forces", "neighbours", "accelerator")
MESSAGES = ("ghosts", "migration", "other")  # other: above all waiting for all ranks
LOW = 0.8  # LBE below which it is a problem
EVEN = 1.15  # the longest over the mean, up to which ranks compute alike
FEW = 20_000  # particles of a rank, below which messages may well take longer than computing
KINDS = ("problem", "note", "good")


def findings(run):
    """[{"kind": of KINDS, "text", "see": section of the page}, ...], problems first. run: as read_run() makes it."""
    found = [*low_balance(run), *slow_processes(run), *ranks_at_work(run), *dense_zone(run), *verdict(run)]
    found = found or [("good", "Nothing stands out.", "map")]
    found = sorted(found + least_time(run), key=lambda f: KINDS.index(f[0]))
    return [dict(zip(("kind", "text", "see"), f)) for f in found]


def percent(part):
    return f"{100 * part:.0f} %"


def listed(numbers):
    """1, 2, 5 to 9 and 12."""
    runs = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [w for a, b in runs for w in ([f"{a} to {b}"] if b > a + 1 else map(str, range(a, b + 1)))]
    words = [*words[:5], "others"] if len(words) > 6 else words
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def plural(what, numbers):
    return (what if len(numbers) == 1 else f"{what}s" if what[-1] != "s" else f"{what}es") + " " + listed(numbers)


def verdict(run):
    """The gain or the loss by balancing."""
    worth = run["summary"].get("worth")
    net = worth.get("net") if isinstance(worth, dict) else None
    if not isinstance(net, dict) or not all(is_number(net.get(k)) for k in ("seconds", "without_seconds", "saved")):
        return []
    saved, took, instead = net["saved"], f"{net['seconds']:.3g} s", f"{net['without_seconds']:.3g} s"
    kind = "good" if saved > 0.02 else "problem" if saved < -0.02 else "note"
    first = run["summary"].get("first_step")
    part = f"the part of this run from step {first:,} on" if first else "this run"  # seconds are of the last start
    longer = f"{percent(abs(saved))} {'shorter' if saved >= 0 else 'longer'}"
    if net.get("of") == "run" and abs(saved) < 0.005:
        text = f"Balancing cost about as much time as it saved: {part.replace('this', 'the')} took {took}."
    elif net.get("of") == "run":
        text = f"Balancing made {part} {longer}: {took} instead of about {instead}, balancing itself included."
    else:
        text = f"Balancing makes the computing of the busiest process {longer} than in the even partition of the start:"
        whole = f"the steps from {first:,} on" if first else "the whole run"
        text += f" {took} instead of {instead} in {whole}, without what balancing itself takes."
    return [(kind, text, "balance")]


def least_time(run):
    """The program's sentence on the contender that takes the least time."""
    sentence = run["summary"].get("least_time")
    return [("note", f"{sentence[0].upper()}{sentence[1:]}.", "balance")] if sentence else []


def overall_lbe(run):
    """LBE of the whole run, of a partition by its model; None where it is not known."""
    if run["partition"]:
        return run["partition"]["lbe_model"]
    lbe = (run["summary"].get("overall_lbe") or {}).get(run["balance"][0]["model"]) if run["balance"] else None
    return lbe if is_number(lbe) else None


def low_balance(run):
    """Balancing that is off, and processes that wait for the busiest one, with LBE in words."""
    number = run["summary"].get("processes") or len(run["ranks"]["wall_seconds"][-1] if run["ranks"] else [])
    if run["partition"] or number < 2:
        return []
    lbe, deck, off = overall_lbe(run), run["deck"] or "", None
    if switched_off(deck, "balance", "every"):
        off = "balance.every: 0"
    elif run["balance"] and run["balance"][0]["model"] == "none":
        off = "balance.partition.kind: none"
    low = lbe is not None and lbe < LOW
    text = [f"Balancing is off ({off}): each process keeps its part of the box."] if off else []
    if low:
        waits = "the mean process computes for that part of the busiest one's time, then waits"
        text.append(f"LBE is {percent(lbe)}: {waits}.")
    return [("problem" if low else "note", " ".join(text), "balance" if run["balance"] else "map")] if text else []


def slow_processes(run):
    speeds = run["resources"] and run["resources"]["speed"][-1]
    if not speeds or not all(is_number(s) for s in speeds):
        return []
    usual = median_high(speeds)  # of two processes the faster one
    slow = [p for p, s in zip(run["resources"]["resource"][-1], speeds) if s < 0.85 * usual]
    if not slow:
        return []
    worst = f"{min(speeds) / usual:.2f} of the usual speed."
    many = "run on slow processors, down to" if len(slow) > 1 else "runs on a slow processor, at"
    return [("problem", f"{plural('Process', slow)} {many} {worst}", "speeds")]


def ranks_at_work(run):
    """The rank that computes longest and the ones that wait. If all compute alike, the phases that take the time."""
    ranks = run["ranks"]
    if not ranks or len(ranks["wall_seconds"][-1]) < 2:
        return []
    if covered(run) < 0.8:
        return uneven_by_summary(run)
    size = len(ranks["wall_seconds"][-1])
    of = [i for i, row in enumerate(ranks["wall_seconds"]) if len(row) == size]
    steps = [ranks["step"][i] - ranks["from"][i] for i in of]

    def total(name):
        rows = [ranks[name][i] for i in of] if name in ranks else []
        return [sum(row[r] * n for row, n in zip(rows, steps)) for r in range(size)]

    phases = {p: mean(total(p)) for p in ranks["phases"]}
    wall = mean(total("wall_seconds"))
    compute = [a + b for a, b in zip(total("forces"), total("neighbours"))]
    ghosts = total("ghosts")
    if wall <= 0 or mean(compute) <= 0:
        return []
    late = [r for r in range(size) if ghosts[r] > max(1.25 * median(ghosts), median(ghosts) + 0.05 * wall)]
    where = f" Ghosts take longest on {plural('rank', late)}." if late else ""
    if "wait_seconds" in ranks:
        where = slow_sender([g - w for g, w in zip(ghosts, total("wait_seconds"))], wall, sum(steps)) or where
    if max(compute) <= EVEN * mean(compute):
        few = sum(ranks["particles"]) / size < FEW if len(ranks["particles"]) == size else True
        text = mostly_not_computing(run, phases, wall, sum(steps), few)
        if text:
            return [("problem", text + where, "ranks")]
    found = uneven_ranks(compute, ranks["particles"])
    waits = mean(total("wait_seconds")) if "wait_seconds" in ranks else 0
    if waits > 0.1 * wall or mean(ghosts) > 0.1 * wall:
        uneven = sum(uneven_seconds(ranks, i) * n for i, n in zip(of, steps))
        found.append(waiting(run, mean(ghosts), wall, uneven, where))
    return found


def slow_sender(own, wall, steps):
    """A sentence on the rank whose messages the others wait for. own: seconds of each rank with ghosts, but waiting."""
    slowest = max(range(len(own)), key=own.__getitem__)
    others = median(s for r, s in enumerate(own) if r != slowest)
    if own[slowest] < 2 * others or own[slowest] - others < 0.05 * wall or steps <= 0:
        return ""
    text = f" Rank {slowest} is at its ghosts for {duration(own[slowest] / steps)} a step without waiting,"
    return f"{text} the others for {duration(max(0, others) / steps)}: they wait for its messages."


def mostly_not_computing(run, phases, wall, steps, few=True):
    """A sentence where ranks compute less than two thirds of the time; None else.

    phases: seconds of the mean rank; few: whether ranks have few particles, or it is not known.
    """
    rest = {p: s for p, s in phases.items() if p not in COMPUTING}
    share = sum(phases.get(p, 0) for p in COMPUTING) / wall
    if share > 2 / 3 or not rest or steps <= 0:
        return None
    simulated = run["summary"].get("simulated") is True
    order = sorted(rest, key=rest.get, reverse=True)
    # Nothing is charged for files on simulated ranks: what is left of output there are messages.
    messages = sum(rest.get(p, 0) for p in (*MESSAGES, *(["output"] if simulated else [])))
    most = "messages and waiting for them take" if messages > 0.5 * sum(rest.values()) else f"{order[0]} takes"
    parts = [f"{p} {duration(rest[p] / steps)}" for p in order if rest[p] > 0.02 * wall]
    text = f"Only {percent(share)} of a step is computing, on all ranks alike; {most} most of the rest"
    text += f": {', '.join(parts)} a step."
    if most.startswith("messages"):
        causes = ["messages are late", *([] if simulated else ["ranks share cores"])]
        causes += ["particles are few for so many ranks"] if few else []
        text += f" {causes[0].capitalize()}{''.join(f', {c}' for c in causes[1:-1])}"
        text += f"{', or' if len(causes) > 2 else ' or'} {causes[-1]}." if len(causes) > 1 else "."
    return text


def duration(seconds):
    scale, unit = next(((s, u) for s, u in ((1, "s"), (1e-3, "ms")) if seconds >= s), (1e-6, "\u00b5s"))
    return f"{seconds / scale:.3g} {unit}"


def uneven_ranks(compute, particles):
    """Who computes longest, and why. compute: seconds of each rank; particles: of each, [] where they are not known."""
    usual, busiest = median(compute), max(range(len(compute)), key=compute.__getitem__)
    if compute[busiest] <= EVEN * mean(compute):
        return []
    slow = [r for r, c in enumerate(compute) if c > 0.5 * (usual + compute[busiest])]
    one = len(slow) == 1
    text = f"{plural('Rank', slow)} compute{'s' if one else ''} longest, {'' if one else 'up to '}"
    text += f"{compute[busiest] / mean(compute):.2f} times the mean: the others wait for {'it' if one else 'them'}."
    others = [r for r in range(len(particles)) if r not in slow and particles[r] and compute[r] > 0]
    if others and len(particles) == len(compute) and all(particles[r] for r in slow):
        each = [c / n if n else 0 for c, n in zip(compute, particles)]  # seconds for a particle
        longer = max(each[r] for r in slow) / median(each[r] for r in others)
        more = max(particles[r] for r in slow) / median(particles[r] for r in others)
        if longer > more:
            text += f" A particle takes {'' if one else 'up to '}{longer:.1f} times as long there:"
            text += " the processor is slow, or the particles lie dense."
        else:
            text += " It has more particles, not a slower" if one else " They have more particles, not slower"
            text += f" processor{'' if one else 's'}."
    return [("problem", text, "ranks")]


def covered(run):
    """The part of the steps since the last start of the program for which ranks.csv has frames."""
    first = run["summary"].get("first_step") or (run["starts"] or [0])[-1]
    steps = (run["steps"] or 0) - first
    spans = zip(run["ranks"]["from"], run["ranks"]["step"])
    return sum(end - begin for begin, end in spans if begin >= first) / steps if steps > 0 else 1


def uneven_by_summary(run):
    """The same of the whole run, where frames of ranks tell of a part of it: which rank it is, is not known then."""
    summary = run["summary"]
    phases, wall = summary.get("seconds") or {}, summary.get("wall_seconds")
    timed = {p: s for p, s in phases.items() if isinstance(s, dict)}
    known = {p: s for p, s in timed.items() if is_number(s.get("mean")) and is_number(s.get("max"))}
    if not wall or "forces" not in known or "ghosts" not in known:
        return []
    forces, ghosts = known["forces"], known["ghosts"]
    if forces["max"] > EVEN * forces["mean"] > 0:
        text = f"One rank computes forces {forces['max'] / forces['mean']:.2f} times as long as the mean of all:"
        found = [("problem", f"{text} the others wait for it.", "ranks")]
    else:
        steps = (run["steps"] or 0) - (summary.get("first_step") or 0)
        text = mostly_not_computing(run, {p: s["mean"] for p, s in known.items()}, wall, steps)
        if text:
            return [("problem", text, "ranks")]
        found = []
    if ghosts["mean"] > 0.1 * wall:
        found.append(waiting(run, ghosts["mean"], wall, forces["max"] - forces["mean"], ""))
    return found


def waiting(run, ghosts, wall, uneven, where):
    """ghosts: seconds of the mean rank; uneven: those that differences in computing explain."""
    late = f"messages are late{'' if run['summary'].get('simulated') is True else ' or ranks share cores'}"
    why = f"more than differences in computing explain: {late}"
    if uneven > 0.6 * ghosts:
        why = "about what the differences in computing between the ranks explain"
    text = f"{percent(ghosts / wall)} of the time goes into ghosts and waiting for them, {why}.{where}"
    return ("problem", text, "ranks")


def uneven_seconds(ranks, interval):
    """The time that the mean rank waits for the one that computes longest, seconds a step."""
    compute = [a + b for a, b in zip(ranks["forces"][interval], ranks["neighbours"][interval])]
    return max(compute) - mean(compute)


def dense_zone(run):
    """Where balancing does not even it out."""
    lbe, frames = overall_lbe(run), run["map"] or {}
    if run["summary"].get("processes") == 1 or (lbe is not None and lbe >= LOW):
        return []
    for name, words in (("load", "carries {} of the load"), ("particles", "holds {} of the particles")):
        values = sorted((v for v in frames.get(name, [[]])[-1] if is_number(v)), reverse=True)
        if sum(values) > 0:
            fullest = max(1, round(len(values) / 10))  # blocks of the map
            part, size = sum(values[:fullest]) / sum(values), fullest / len(values)
            at = "" if run["partition"] else f" at step {frames['step'][-1]:,}"
            where = "A tenth" if round(size, 2) == 0.1 else f"The densest {percent(size)}"
            text = f"{where} of the box {words.format(percent(part))}{at}."
            return [("problem" if lbe is not None else "note", text, "map")] if part >= 2.5 * size else []
    return []
