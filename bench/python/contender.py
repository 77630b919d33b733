"""The official Python SDK doing what the programs next door do, on the same server.

Takes a task (JSON, the only argument) and prints what was measured as its last line. CPU time is the operating system's number for this
process and its children, memory that of this process alone.
"""

import json
import resource
import statistics
import sys
import time
import urllib.request


def cpu_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Stopwatch:
    def __init__(self):
        self.cpu = cpu_seconds()
        self.wall = time.perf_counter()

    def stop(self):
        return (cpu_seconds() - self.cpu) * 1000, (time.perf_counter() - self.wall) * 1000


def sampler(task):
    from tinker import ServiceClient, types

    client = ServiceClient().create_sampling_client(base_model="bench")
    prompt = types.ModelInput.from_ints([index * 7 + 3 for index in range(32)])
    params = types.SamplingParams(max_tokens=16, temperature=0.7)
    return lambda: client.sample(prompt=prompt, num_samples=1, sampling_params=params)


def keep_in_flight(call, calls, in_flight, note=lambda ended: None):
    """Starts a call whenever one ends, so that the same number is under way all the time. Notes how many have ended."""
    from collections import deque

    pending = deque()
    for started in range(calls):
        if len(pending) >= in_flight:
            pending.popleft().result()
            note(started + 1 - in_flight)
        pending.append(call())
    for future in pending:
        future.result()


def sampling(task):
    """Measures in the middle of the stream, as the other contenders do: see costOfCalls."""
    marks = {}

    def note(ended):
        if ended == task["warmUpCalls"]:
            marks["watch"] = Stopwatch()
        elif ended == task["warmUpCalls"] + task["calls"]:
            marks["used"] = marks["watch"].stop()

    keep_in_flight(sampler(task), task["warmUpCalls"] + task["calls"] + task["inFlight"], task["inFlight"], note)
    cpu_ms, wall_ms = marks["used"]
    return {"cpuMicrosPerCall": cpu_ms * 1000 / task["calls"], "callsPerSecond": task["calls"] / wall_ms * 1000}


def control(task, action):
    with urllib.request.urlopen(urllib.request.Request(f"{task['baseUrl']}/bench/{action}", method="POST"), timeout=30) as answer:
        return json.loads(answer.read())


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def pending(task):
    call = sampler(task)
    keep_in_flight(call, task["calls"] * 2, task["calls"])
    before = resident_bytes()
    control(task, "hold")
    futures = [call() for _ in range(task["calls"])]
    while control(task, "held")["held"] < task["held"]:
        time.sleep(0.02)
    bytes_per_call = (resident_bytes() - before) / task["calls"]
    percents = []
    for _ in range(task["idleSeconds"]):
        watch = Stopwatch()
        time.sleep(1)
        cpu_ms, wall_ms = watch.stop()
        percents.append(cpu_ms / wall_ms * 100)
    control(task, "release")
    for future in futures:
        future.result()
    return {"bytesPerCall": bytes_per_call, "idleCpuPercent": statistics.median(percents)}


def trainer():
    from tinker import ServiceClient

    return ServiceClient().create_lora_training_client(base_model="bench")


def training(task):
    import numpy as np
    from tinker import types

    def datum(step, row):
        ids = (step * 7 + row * 31 + np.arange(task["tokens"], dtype=np.int64)) % 50_000
        return types.Datum(
            model_input=types.ModelInput.from_ints(ids.tolist()),
            loss_fn_inputs={
                "target_tokens": types.TensorData.from_numpy(ids),
                "weights": types.TensorData.from_numpy(np.ones(task["tokens"], dtype=np.float32)),
            },
        )

    batches = [[datum(step, row) for row in range(task["datums"])] for step in range(2)]
    client = trainer()

    def train(steps):
        futures = []
        for step in range(steps):
            futures.append(client.forward_backward(batches[step % len(batches)], "cross_entropy"))
            futures.append(client.optim_step(types.AdamParams(learning_rate=1e-4)))
        for future in futures:
            future.result()

    train(task["warmUpSteps"])
    watch = Stopwatch()
    train(task["steps"])
    cpu_ms, wall_ms = watch.stop()
    return {"cpuMsPerStep": cpu_ms / task["steps"], "wallMsPerStep": wall_ms / task["steps"]}


def large_result(task):
    from tinker import types

    data = [
        types.Datum(
            model_input=types.ModelInput.from_ints([1, 2, 3]),
            loss_fn_inputs={
                "target_tokens": types.TensorData(data=[2, 3, 4], dtype="int64", shape=[3]),
                "weights": types.TensorData(data=[1.0, 1.0, 1.0], dtype="float32", shape=[3]),
            },
        )
    ]
    client = trainer()

    def receive():
        output = client.forward_backward(data, "cross_entropy").result()
        return sum(float(entry["logprobs"].data[0]) for entry in output.loss_fn_outputs)

    receive()
    watch = Stopwatch()
    for _ in range(task["results"]):
        receive()
    cpu_ms, wall_ms = watch.stop()
    return {"cpuMsPerResult": cpu_ms / task["results"], "wallMsPerResult": wall_ms / task["results"]}


def importing(task):
    watch = Stopwatch()
    import tinker  # noqa: F401

    cpu_ms, wall_ms = watch.stop()
    return {"cpuMs": cpu_ms, "wallMs": wall_ms}


WORK = {"sampling": sampling, "pending": pending, "training": training, "large-result": large_result, "importing": importing}

task = json.loads(sys.argv[1])
measured = WORK[task["work"]](task)
measured["peakRssBytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(measured), flush=True)
