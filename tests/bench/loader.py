"""loader.py: loads safetensors files when told to, one line in, one line out: "first PATH" gives the seconds until the first small tensor is there, "all PATH" those until every
tensor was. Started once and warmed up, so that the import of the library is not in the figure. Its interpreter has safetensors and numpy.
"""
import sys
import time

from safetensors import safe_open


def first(path):
    with safe_open(path, framework="np") as file:
        return int(file.get_tensor("small")[0])


def everything(path):
    with safe_open(path, framework="np") as file:
        return sum(int(file.get_tensor(name)[-1]) for name in file.keys())


def main():
    everything(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        what, path = line.rstrip("\n").split(" ", 1)
        begin = time.perf_counter()
        seen = {"first": first, "all": everything}[what](path)
        print(time.perf_counter() - begin, seen, flush=True)


main()
