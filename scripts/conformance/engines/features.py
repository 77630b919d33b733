"""What features.ts does, with the official Python SDK: the same features, by the same names, against the server named by TINKER_BASE_URL.

Prints one JSON object: for each feature what came back, or what went wrong. A feature that does not answer in time is left behind.
"""

import concurrent.futures
import json
import os
import sys

import tinker
from tinker import types

MODEL = sys.argv[1]
LIMIT_SECONDS = float(sys.argv[2])
ROWS = [[(3 * row + 5 * place) % 200 for place in range(8)] for row in range(4)]
PROMPT = types.ModelInput.from_ints([10, 20, 30, 40, 50, 60, 70, 80])
results = {}
state = {}


def tensor(values, dtype):
    return types.TensorData(data=values, dtype=dtype, shape=[len(values)])


def next_token(tokens):
    inputs = {"target_tokens": tensor(tokens[1:], "int64"), "weights": tensor([1.0] * (len(tokens) - 1), "float32")}
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


def policy(tokens):
    count = len(tokens) - 1
    inputs = {
        "target_tokens": tensor(tokens[1:], "int64"),
        "logprobs": tensor([-5.0] * count, "float32"),
        "advantages": tensor([0.5] * count, "float32"),
    }
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


DATA = [next_token(row) for row in ROWS]
POLICY = [policy(row) for row in ROWS]


def logprobs(output):
    return [float(value) for entry in output.loss_fn_outputs for value in entry["logprobs"].tolist()]


def loss(output, data):
    # As lossOf of our client: what the server says, if it says something.
    if "loss:sum" in (output.metrics or {}):
        return output.metrics["loss:sum"]
    weights = [value for datum in data for value in datum.loss_fn_inputs["weights"].tolist()]
    return -sum(weight * value for weight, value in zip(weights, logprobs(output)))


def step():
    return state["training"].optim_step(types.AdamParams(learning_rate=0.01))


def create():
    state["training"] = state["service"].create_lora_training_client(base_model=MODEL, rank=8, seed=1)
    state["training"].get_info()


def twenty_steps():
    values = []
    for _ in range(20):
        output = state["training"].forward_backward(DATA, "cross_entropy").result()
        values.append(loss(output, DATA))
        step().result()
    return values


def pipelined():
    futures = [future for _ in range(3) for future in (state["training"].forward_backward(DATA, "cross_entropy"), step())]
    results = [future.result() for future in futures]
    values = [loss(result, DATA) for result in results[::2]]
    assert len(set(values)) == len(values), "the server skipped a step that waited behind its pass"
    return values


def policy_pass(name, config=None):
    return logprobs(state["training"].forward_backward(POLICY, name, loss_fn_config=config).result())


def save_state():
    state["path"] = state["training"].save_state("state").result().path


def resume():
    there = logprobs(state["training"].forward(DATA, "cross_entropy").result())
    resumed = state["service"].create_training_client_from_state_with_optimizer(state["path"])
    here = logprobs(resumed.forward(DATA, "cross_entropy").result())
    assert max(abs(a - b) for a, b in zip(there, here)) < 1e-4, "the resumed run has other weights"


def save_sampler():
    state["sampler_path"] = state["training"].save_weights_for_sampler("sampler").result().path
    state["sampling"] = state["service"].create_sampling_client(model_path=state["sampler_path"])
    state["sampling"].sample(prompt=PROMPT, num_samples=1, sampling_params=types.SamplingParams(max_tokens=4)).result()


def unnamed_sampler():
    sampling = state["training"].save_weights_and_get_sampling_client()
    sampling.sample(prompt=PROMPT, num_samples=1, sampling_params=types.SamplingParams(max_tokens=4)).result()


def sample_base(**params):
    options = {"num_samples": params.pop("num_samples", 1)}
    for name in ("include_prompt_logprobs", "topk_prompt_logprobs"):
        if name in params:
            options[name] = params.pop(name)
    return base().sample(prompt=PROMPT, sampling_params=types.SamplingParams(**params), **options).result()


def base():
    if "base" not in state:
        state["base"] = state["service"].create_sampling_client(base_model=MODEL)
    return state["base"]


def greedy():
    (sequence,) = sample_base(max_tokens=6, temperature=0.0).sequences
    return [*map(int, sequence.tokens), *map(float, sequence.logprobs)]


def four_samples():
    assert len(sample_base(max_tokens=4, num_samples=4, temperature=1.0, seed=1, top_k=20, top_p=0.9).sequences) == 4


def prompt_logprobs():
    values = sample_base(max_tokens=1, include_prompt_logprobs=True).prompt_logprobs
    assert values is not None and len(values) == 8, f"{None if values is None else len(values)} entries for 8 tokens"


def top_prompt_logprobs():
    values = sample_base(max_tokens=1, include_prompt_logprobs=True, topk_prompt_logprobs=2).topk_prompt_logprobs
    assert values is not None and len(values) == 8, "absent"


def compute_logprobs():
    values = base().compute_logprobs(PROMPT).result()
    assert values is not None and len(values) == 8, f"{None if values is None else len(values)} entries for 8 tokens"
    return [float(value) for value in values[1:]]


def archive_url():
    assert rest().get_checkpoint_archive_url_from_tinker_path(state["sampler_path"]).result().url


def rest():
    return state["service"].create_rest_client()


def nothing(action):
    def run():
        action()

    return run


FEATURES = {
    "capabilities": nothing(lambda: state["service"].get_server_capabilities()),
    "create a training run": create,
    "tokenizer of a model named by a path": nothing(lambda: state["training"].get_tokenizer().encode("a")),
    "forward": lambda: logprobs(state["training"].forward(DATA, "cross_entropy").result()),
    "forwardBackward": lambda: logprobs(state["training"].forward_backward(DATA, "cross_entropy").result()),
    "optimStep": nothing(lambda: step().result()),
    "20 steps": twenty_steps,
    "importance_sampling": lambda: policy_pass("importance_sampling"),
    "ppo with a configuration": lambda: policy_pass("ppo", {"clip_low_threshold": 0.75, "clip_high_threshold": 1.25}),
    "cispo": lambda: policy_pass("cispo"),
    "dro": lambda: policy_pass("dro", {"beta": 0.1}),
    # After everything whose numbers are compared: how many steps a server skips is a matter of time.
    "passes and steps without awaiting": pipelined,
    "saveState": save_state,
    "saveState, a name with a dot": nothing(lambda: state["training"].save_state("a.b").result()),
    "loadState into a trained run": nothing(lambda: state["training"].load_state_with_optimizer(state["path"]).result()),
    "training client from a state": resume,
    "saveWeightsForSampler, sample from it": save_sampler,
    "saveWeightsAndGetSamplingClient": unnamed_sampler,
    "greedy sample of the base model": greedy,
    "four samples with top-k, top-p, seed": four_samples,
    "stop: one text": nothing(lambda: sample_base(max_tokens=4, stop="a")),
    "stop: a list": nothing(lambda: sample_base(max_tokens=4, stop=["a", "b"])),
    "sample without maxTokens": nothing(lambda: sample_base(temperature=1.0)),
    "prompt logprobs": prompt_logprobs,
    "likeliest prompt tokens": top_prompt_logprobs,
    "computeLogprobs": compute_logprobs,
    "list runs": nothing(lambda: rest().list_training_runs(limit=2).result()),
    "list checkpoints of a run": nothing(lambda: rest().list_checkpoints(state["training"].get_info().model_id).result()),
    "list all checkpoints": nothing(lambda: rest().list_user_checkpoints(limit=2).result()),
    "list sessions": nothing(lambda: rest().list_sessions(limit=2).result()),
    "archive URL": archive_url,
    "publish": nothing(lambda: rest().publish_checkpoint_from_tinker_path(state["sampler_path"]).result()),
    "unpublish": nothing(lambda: rest().unpublish_checkpoint_from_tinker_path(state["sampler_path"]).result()),
    "time to live": nothing(lambda: rest().set_checkpoint_ttl_from_tinker_path(state["sampler_path"], 3600).result()),
    "delete a checkpoint": nothing(lambda: rest().delete_checkpoint_from_tinker_path(state["sampler_path"]).result()),
    # Last: the SDK may repeat this for minutes, and every later call of the training client waits behind it.
    "saveState, the name exists": nothing(lambda: state["training"].save_state("state").result()),
}


def main():
    state["service"] = tinker.ServiceClient()
    # One thread per feature: one that hangs must not hold up the others.
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=len(FEATURES))
    for name, run in FEATURES.items():
        try:
            results[name] = {"value": pool.submit(run).result(timeout=LIMIT_SECONDS)}
        except concurrent.futures.TimeoutError:
            results[name] = {"error": f"no answer in {LIMIT_SECONDS:g} s"}
        except BaseException as error:
            status = getattr(error, "status_code", None)
            text = f"{type(error).__name__}: {error}"
            results[name] = {"error": text[:300], **({"status": status} if status is not None else {})}
        print(name, json.dumps(results[name])[:200], file=sys.stderr, flush=True)
    print(json.dumps({"version": tinker.__version__, "results": results}), flush=True)
    # Threads that hang would keep the process.
    os._exit(0)


main()
