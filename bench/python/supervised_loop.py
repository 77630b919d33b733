"""A supervised run of the Python cookbook, as programs/supervised-loop.ts makes it with ours.

Takes a task (JSON, the only argument) and prints what was measured as its last line.
"""

import json
import os
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts/conformance"))
from cookbook_loops import sft  # noqa: E402


def cpu_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def train(task, folder, steps):
    sft(
        {
            "base_url": task["baseUrl"],
            "log_path": os.path.join(folder, f"run-{steps}"),
            "file": task["file"],
            "test_size": 0,
            "batch_size": task["batchSize"],
            "learning_rate": 1e-4,
            "lr_schedule": "linear",
            "num_epochs": 1,
            "eval_every": 0,
            "save_every": 0,
            "max_steps": steps,
        }
    )


task = json.loads(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    train(task, folder, task["warmUpSteps"])
    cpu, wall = cpu_seconds(), time.perf_counter()
    train(task, folder, task["steps"])
    cpu, wall = (cpu_seconds() - cpu) * 1000, (time.perf_counter() - wall) * 1000

steps = task["steps"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"peakRssBytes": peak, "cpuMsPerStep": cpu / steps, "wallMsPerStep": wall / steps, "cpuShareOfWall": cpu / wall}))
