"""case_memory.py: what is held in memory after one cold pass over the shard: a model should be there once."""
from case_reads import over
from machine import resident, sum_of_field
from samples import Case


def memory(bench):
    case = Case("memory", None, "after one cold pass, as shares of the shard: pages of the file that was read, pages of the file behind it, memory of the daemon")
    for _, way in over(bench, "memory"):
        bench.machine.cold()
        bench.machine.rate("read", way.shard)
        shown = resident(way.shard)
        behind = 0 if way.backing == way.shard else resident(way.backing)
        daemon = sum_of_field(way.processes(), "status", "RssAnon")
        for figure, value in (("read file", shown), ("file behind", behind), ("daemon", daemon), ("all", shown + behind + daemon)):
            case.add(way.name, figure, "", value / bench.chosen.size)
    return case
