"""Calls every public method of the SDK's clients that this version has, on the server named by TINKER_BASE_URL.

The TypeScript client does the same in packages/clients/test/support/conformance-methods.ts: change both together.
Prints one JSON object: `results` by step, and the methods that were not called. A step that this version of the SDK lacks has no result.
"""

import asyncio
import functools
import hashlib
import inspect
import json
import os
import pickle
import sys
import urllib.request
import warnings

import numpy as np
import tinker
from tinker import types

warnings.simplefilter("ignore")
MODEL = "tinkex/tiny"
PROMPT = types.ModelInput.from_ints([10, 20, 30, 40])
CLIENTS = {name: getattr(tinker, name, None) for name in ("ServiceClient", "TrainingClient", "SamplingClient", "RestClient", "AdminClient")}
if CLIENTS["RestClient"] is None:
    from tinker.lib.public_interfaces.rest_client import RestClient

    CLIENTS["RestClient"] = RestClient
LEFT_OUT = {
    # Not for users.
    "SamplingClient.create",
    "SamplingClient.on_queue_state_change",
    # These read the tokenizer from a hub of models.
    "SamplingClient.get_tokenizer",
    "TrainingClient.get_tokenizer",
}
called = set()
results = {}


def watch_methods():
    """Notes each call of a public method."""
    found = set()
    for owner, client in CLIENTS.items():
        for name, method in [] if client is None else inspect.getmembers(client, callable):
            if name.startswith("_") or f"{owner}.{name}" in LEFT_OUT:
                continue
            found.add(f"{owner}.{name}")
            raw = inspect.getattr_static(client, name)
            is_static = isinstance(raw, (staticmethod, classmethod))
            setattr(client, name, staticmethod(watched(f"{owner}.{name}", method)) if is_static else watched(f"{owner}.{name}", raw))
    return found


def watched(name, method):
    @functools.wraps(method)
    def call(*args, **kwargs):
        called.add(name)
        return method(*args, **kwargs)

    return call


def takes(method, parameter):
    return method is not None and parameter in inspect.signature(method).parameters


def has(owner, name):
    return hasattr(CLIENTS[owner], name)


def floats(values):
    return [None if value is None or np.isnan(value) else float(value) for value in values]


def losses(output):
    return {name: float(value) for name, value in sorted(output.metrics.items())}


def tokens_of(response):
    return [[int(token) for token in sequence.tokens] for sequence in response.sequences]


def pairs(topk):
    """Rows of (token, log-probability); an absent row is null."""
    return None if topk is None else [None if row is None else [[int(token), float(score)] for token, score in row] for row in topk]


def example(tokens, **inputs):
    count = len(tokens) - 1
    tensors = {"target_tokens": types.TensorData(data=tokens[1:], dtype="int64", shape=[count])}
    for name, value in inputs.items():
        tensors[name] = types.TensorData(data=[value] * count, dtype="float32", shape=[count])
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=tensors)


DATA = [example([7 * row + place for place in range(5)], weights=1.0) for row in range(3)]
ADAM = types.AdamParams(learning_rate=0.01)


def refusal(call):
    """The status with which the server, or `local` with which the SDK, refuses a call."""
    try:
        call()
    except tinker.APIStatusError as error:
        return error.status_code
    except Exception as error:  # noqa: BLE001
        return getattr(error, "category", None) and "failed" or "local"
    return "accepted"


def fetched(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


def training_methods(service):
    training = service.create_lora_training_client(base_model=MODEL, rank=4, seed=11)
    results["info"] = [training.get_info().model_data.model_name, training.get_info().model_data.arch]
    results["forward"] = losses(training.forward(DATA, "cross_entropy").result())
    steps = []
    for _ in range(2):
        steps.append(losses(training.forward_backward(DATA, "cross_entropy").result()))
        training.optim_step(ADAM).result()
    results["adam"] = steps
    policy = [example([5, 6, 7, 8], logprobs=-1.0, advantages=0.5)]
    results["policies"] = {
        name: losses(training.forward(policy, name).result()) for name in ("importance_sampling", "ppo", "cispo", "dro")
    }
    results["unknownLoss"] = refusal(lambda: training.forward(DATA, "no_such_loss").result())
    state = training.save_state("state").result().path
    sampler = training.save_weights_for_sampler("sampler").result().path
    results["from state"] = losses(service.create_training_client_from_state(state).forward(DATA, "cross_entropy").result())
    resumed = service.create_training_client_from_state_with_optimizer(state)
    resumed.forward_backward(DATA, "cross_entropy").result()
    resumed.optim_step(ADAM).result()
    results["with optimizer"] = losses(resumed.forward(DATA, "cross_entropy").result())
    results["load"] = [refusal(lambda: training.load_state(state).result()), refusal(lambda: training.load_state_with_optimizer(state).result())]
    if takes(CLIENTS["TrainingClient"].save_state, "user_metadata"):
        training.save_state("noted", user_metadata={"note": "yes"}).result()
    if has("TrainingClient", "get_console_url"):
        results["console"] = [service.get_console_url(), training.get_console_url()]
    return training, state, sampler


def newer_losses(training):
    version = tuple(int(part) for part in tinker.__version__.split(".")[:2])
    if version >= (0, 34):
        masked = example([5, 6, 7, 8], logprobs=-1.0, advantages=0.5, sequence_ratio_mask=1.0)
        results["gspo"] = losses(training.forward([masked], "gspo").result())
    if version >= (0, 35):
        results["stable_reinforce"] = refusal(lambda: training.forward(DATA, "stable_reinforce").result())


def dimuon(service):
    """Dimuon, kept by a resumed run. The parameters changed names until 0.30.4."""
    if not hasattr(types, "DimuonParams"):
        return
    training = service.create_lora_training_client(base_model=MODEL, rank=4, seed=12, optimizer=types.DimuonOptimizerConfig())
    step = types.DimuonParams(learning_rate=0.02)
    found = []
    for _ in range(2):
        found.append(losses(training.forward_backward(DATA, "cross_entropy").result()))
        training.optim_step(step).result()
    state = training.save_state("dimuon").result().path
    resumed = service.create_training_client_from_state_with_optimizer(state)
    found.append(losses(resumed.forward_backward(DATA, "cross_entropy").result()))
    resumed.optim_step(step).result()
    found.append(losses(resumed.forward(DATA, "cross_entropy").result()))
    fresh = service.create_training_client_from_state(state, optimizer=types.DimuonOptimizerConfig())
    fresh.forward_backward(DATA, "cross_entropy").result()
    fresh.optim_step(step).result()
    results["dimuon"] = found
    results["mismatch"] = refusal(lambda: resumed.optim_step(ADAM).result())


def sampling_methods(service, training, path):
    tuned = training.create_sampling_client(path)
    base = service.create_sampling_client(base_model=MODEL)
    params = types.SamplingParams(max_tokens=6, seed=5, temperature=0.9)
    one = tuned.sample(PROMPT, 2, params, include_prompt_logprobs=True, topk_prompt_logprobs=3).result()
    results["samples"] = tokens_of(one)
    results["sample logprobs"] = [floats(sequence.logprobs) for sequence in one.sequences]
    results["prompt"] = [floats(one.prompt_logprobs), pairs(one.topk_prompt_logprobs)]
    results["stop reasons"] = [sequence.stop_reason for sequence in one.sequences]
    results["computed"] = floats(base.compute_logprobs(PROMPT).result())
    results["base model"] = base.get_base_model()
    results["copy"] = tokens_of(pickle.loads(pickle.dumps(base)).sample(PROMPT, 1, params).result())
    greedy = types.SamplingParams(max_tokens=4, temperature=0)
    results["unnamed"] = tokens_of(training.save_weights_and_get_sampling_client().sample(PROMPT, 1, greedy).result())
    newer_sampling(service, base, params)
    return tuned


def newer_sampling(service, base, params):
    sample = CLIENTS["SamplingClient"].sample
    version = tuple(int(part) for part in tinker.__version__.split(".")[:2])
    if version >= (0, 26):
        results["has ids"] = [bool(sequence.sequence_id) for sequence in base.sample(PROMPT, 2, params).result().sequences]
    if version >= (0, 28):
        results["no stop"] = len(base.sample(PROMPT, 1, types.SamplingParams(max_tokens=60, seed=1, stop=[])).result().sequences[0].tokens)
    if takes(sample, "topk_sample_logprobs"):
        scored = base.sample(PROMPT, 1, params, topk_sample_logprobs=2).result()
        results["topk samples"] = [pairs(sequence.topk_logprobs) for sequence in scored.sequences]
    if takes(sample, "target_prompt_logprobs"):
        targets = types.TensorData(data=[1, 2, 3, -1, 5, 6], dtype="int64", shape=[3, 2])
        scored = base.sample(PROMPT, 1, params, target_prompt_logprobs=targets).result()
        results["targets"] = floats(np.asarray(scored.target_prompt_logprobs.tolist()).reshape(-1))
    if takes(sample, "prompt_alt_tokens_k"):
        drawn = base.sample(PROMPT, 1, params, prompt_alt_tokens_k=2).result().prompt_alt_tokens
        results["alternatives"] = [drawn.tokens.tolist(), np.asarray(drawn.logprobs.tolist()).shape]
    if takes(sample, "prompt_logprobs_last_n"):
        results["last n"] = floats(base.compute_logprobs(PROMPT, prompt_logprobs_last_n=2).result())
        results["last 0"] = refusal(lambda: base.compute_logprobs(PROMPT, prompt_logprobs_last_n=0).result())
    if takes(CLIENTS["ServiceClient"].create_sampling_client, "record_stability_info"):
        results["recording"] = tokens_of(
            service.create_sampling_client(base_model=MODEL, record_stability_info=True).sample(PROMPT, 1, params).result()
        )
    if has("SamplingClient", "get_sampler_handle"):
        taken = CLIENTS["SamplingClient"].from_sampler_handle(base.get_sampler_handle())
        results["handle"] = tokens_of(taken.sample(PROMPT, 1, params).result())


def external_weights(service, training, rest):
    if not has("TrainingClient", "save_weights_external"):
        return None
    path = training.save_weights_external("export", ttl_seconds=3600).result().path
    urls = rest.get_external_weights_urls(path).result().urls
    results["external"] = {name: hashlib.sha256(fetched(url)).hexdigest() for name, url in sorted(urls.items())}
    if has("RestClient", "copy_weights"):
        copies = [service.copy_weights(path).result(), rest.copy_weights(path, destination_project_id="p").result()]
        results["copies"] = [copy.split("/")[-2:] for copy in copies]
    return path


def rest_methods(service, rest, session_id, model_id, state, sampler):
    results["run"] = [rest.get_training_run(model_id).result().lora_rank, rest.get_training_run_by_tinker_path(state).result().base_model]
    results["runs"] = rest.list_training_runs(limit=1, offset=1).result().cursor.offset
    listed = rest.list_checkpoints(model_id).result().checkpoints
    results["checkpoints"] = sorted([item.checkpoint_id, item.checkpoint_type, item.public] for item in listed)
    if any(getattr(item, "user_metadata", None) for item in listed):
        results["metadata"] = [item.user_metadata for item in listed if item.user_metadata]
    results["all checkpoints"] = len(rest.list_user_checkpoints(limit=50).result().checkpoints)
    results["weights"] = [rest.get_weights_info_by_tinker_path(state).result().lora_rank]
    rest.publish_checkpoint_from_tinker_path(sampler).result()
    results["published"] = [item.public for item in rest.list_checkpoints(model_id).result().checkpoints if item.tinker_path == sampler]
    rest.unpublish_checkpoint_from_tinker_path(sampler).result()
    rest.set_checkpoint_ttl_from_tinker_path(sampler, 7200).result()
    rest.set_checkpoint_ttl_from_tinker_path(sampler, None).result()
    results["bad time"] = refusal(lambda: rest.set_checkpoint_ttl_from_tinker_path(sampler, 5).result())
    if has("RestClient", "get_checkpoint_archive_url"):
        run, _, name = state.removeprefix("tinker://").partition("/")
        for url in (rest.get_checkpoint_archive_url(run, name), rest.get_checkpoint_archive_url_from_tinker_path(state)):
            assert len(fetched(url.result().url)) % 512 == 0
    found = rest.get_session(session_id).result()
    results["session"] = [sorted(found.training_run_ids), sorted(found.sampler_ids)]
    results["sampler"] = [rest.get_sampler(sorted(found.sampler_ids)[0]).result().base_model]
    results["sessions"] = rest.list_sessions(limit=1).result().sessions
    rest.assign_session_project(session_id, "other").result()
    results["trace"] = len(fetched(rest.export_session_trace(session_id).result())) > 0
    results["whoami"] = refusal(lambda: result_of(rest.whoami()))
    results["missing"] = refusal(lambda: rest.get_training_run("sess-none:train:0").result())
    if has("RestClient", "search_sessions"):
        summaries = result_of(rest.search_sessions(types.SessionSearchRequest(limit=5))).sessions
        results["search"] = [[item.session_id, item.checkpoints_count, item.display_name] for item in summaries]
    if has("RestClient", "get_server_capabilities"):
        results["rest capabilities"] = [model.model_name for model in result_of(rest.get_server_capabilities()).supported_models]
    administrators = [rest] if CLIENTS["AdminClient"] is None else [rest, CLIENTS["AdminClient"]()]
    results["admin"] = [admin_methods(admin) for admin in administrators][-1]


def result_of(value):
    return value.result() if hasattr(value, "result") else value


def admin_methods(admin):
    found = [sorted({entry.event for entry in admin.get_audit_log().result().entries})]
    found.append(len(admin.get_billing_usage("2026-01-01", "2026-01-02").result().data))
    if hasattr(admin, "get_current_checkpoint_storage_usage"):
        usage = admin.get_current_checkpoint_storage_usage().result().data
        results["storage"] = sorted([item.project_id, item.checkpoint_count, item.size_bytes] for item in usage)
    return found


def custom_losses(service, training):
    try:
        import torch
    except ImportError:
        return

    def plain(_data, logprobs):
        total = sum((-row.sum() for row in logprobs), torch.zeros(()))
        return total, {"total": float(total)}

    results["custom"] = float(training.forward_backward_custom(DATA, plain).result().metrics["total"])
    if has("ServiceClient", "create_custom_loss"):

        def traced(logprobs, weights):
            loss = -(torch.exp(logprobs) * weights).sum()
            return loss, {"custom/mass:sum": (logprobs * weights).sum()}

        handle = result_of(service.create_custom_loss(traced, {"logprobs": 1, "weights": 1}))
        output = training.forward_backward_custom(DATA, handle).result()
        results["traced"] = {name: float(value) for name, value in sorted(output.metrics.items()) if name.startswith(("loss", "custom"))}


async def awaited(value):
    """The result of what an `_async` method gave: a value, a future of it, or something to await that gives either."""
    while True:
        if hasattr(value, "result_async"):
            value = await value.result_async()
        elif inspect.isawaitable(value):
            value = await value
        else:
            return value


async def async_methods(service, rest, session_id, model_id, state, sampler):
    """The same once more, awaited."""
    training = await awaited(service.create_lora_training_client_async(base_model=MODEL, rank=4, seed=11))
    found = losses(await awaited(training.forward_async(DATA, "cross_entropy")))
    assert found == results["forward"], found
    assert losses(await awaited(training.forward_backward_async(DATA, "cross_entropy"))) == results["adam"][0]
    await awaited(training.optim_step_async(ADAM))
    assert (await awaited(training.get_info_async())).model_id.startswith(session_id)
    saved = (await awaited(training.save_state_async("again"))).path
    weights = (await awaited(training.save_weights_for_sampler_async("again"))).path
    for load in (training.load_state_async, training.load_state_with_optimizer_async):
        try:
            await awaited(load(saved))
        except tinker.TinkerError:
            pass
    await awaited(service.create_training_client_from_state_async(saved))
    await awaited(service.create_training_client_from_state_with_optimizer_async(saved))
    await awaited(service.get_server_capabilities_async())
    sampler_client = await awaited(training.create_sampling_client_async(weights))
    await awaited(training.save_weights_and_get_sampling_client_async())
    base = await awaited(service.create_sampling_client_async(base_model=MODEL))
    params = types.SamplingParams(max_tokens=6, seed=5, temperature=0.9)
    assert len(tokens_of(await awaited(sampler_client.sample_async(PROMPT, 2, params)))) == 2
    assert floats(await awaited(base.compute_logprobs_async(PROMPT))) == results["computed"]
    assert await awaited(base.get_base_model_async()) == results["base model"]
    if "custom" in results:

        def plain(_data, logprobs):
            return sum(-row.sum() for row in logprobs), {}

        await awaited(training.forward_backward_custom_async(DATA, plain))
    if has("TrainingClient", "save_weights_external"):
        external = (await awaited(training.save_weights_external_async("again"))).path
        await awaited(rest.get_external_weights_urls_async(external))
        if has("RestClient", "copy_weights"):
            await awaited(rest.copy_weights_async(external, destination_project_id="p"))
    run, _, name = state.removeprefix("tinker://").partition("/")
    sampler_id = (await awaited(rest.get_session_async(session_id))).sampler_ids[0]
    calls = {
        "get_training_run_async": (model_id,),
        "get_training_run_by_tinker_path_async": (state,),
        "list_training_runs_async": (),
        "list_checkpoints_async": (model_id,),
        "list_user_checkpoints_async": (),
        "publish_checkpoint_from_tinker_path_async": (sampler,),
        "unpublish_checkpoint_from_tinker_path_async": (sampler,),
        "set_checkpoint_ttl_from_tinker_path_async": (sampler, 7200),
        "list_sessions_async": (),
        "assign_session_project_async": (session_id, "third"),
        "export_session_trace_async": (session_id,),
        "get_sampler_async": (sampler_id,),
        "get_audit_log_async": (),
        "get_billing_usage_async": ("2026-01-01", "2026-01-02"),
        "get_current_checkpoint_storage_usage_async": (),
        "get_checkpoint_archive_url_async": (run, name),
        "get_checkpoint_archive_url_from_tinker_path_async": (state,),
        "search_sessions_async": () if not hasattr(types, "SessionSearchRequest") else (types.SessionSearchRequest(),),
        "delete_checkpoint_async": (saved.removeprefix("tinker://").split("/")[0], "weights/again"),
        "delete_checkpoint_from_tinker_path_async": (weights,),
    }
    for client in [rest] if CLIENTS["AdminClient"] is None else [rest, CLIENTS["AdminClient"]()]:
        for method, arguments in calls.items():
            if hasattr(client, method):
                try:
                    await awaited(getattr(client, method)(*arguments))
                except AssertionError as error:
                    # A defect of older versions, before anything is sent.
                    assert method == "get_audit_log_async" and "event loop" in str(error)


def main():
    methods = watch_methods()
    os.environ.setdefault("TINKER_PROJECT_ID", "conformance")
    options = {"display_name": "every method"} if takes(CLIENTS["ServiceClient"].__init__, "display_name") else {}
    service = tinker.ServiceClient(user_metadata={"suite": "methods"}, **options)
    supported = service.get_server_capabilities().supported_models
    results["capabilities"] = [model.model_name for model in supported]
    if hasattr(supported[0], "trainable"):
        results["trainable"] = [[model.trainable, model.sampleable] for model in supported]
    training, state, sampler = training_methods(service)
    newer_losses(training)
    dimuon(service)
    sampling_methods(service, training, sampler)
    custom_losses(service, training)
    rest = service.create_rest_client() if CLIENTS["AdminClient"] is None else CLIENTS["RestClient"]()
    service.create_rest_client()
    model_id = training.get_info().model_id
    external = external_weights(service, training, rest)
    rest_methods(service, rest, model_id.split(":")[0], model_id, state, sampler)
    asyncio.run(async_methods(service, rest, model_id.split(":")[0], model_id, state, sampler))
    if has("ServiceClient", "copy_weights"):
        # Before 0.34 a copy became a run of the session, which the listings above do not have.
        assert service.copy_weights(external).result().endswith("/external_weights/export")
    rest.delete_checkpoint_from_tinker_path(sampler).result()
    rest.delete_checkpoint(model_id, "weights/state").result()
    for client in (service, training, rest):
        client.get_telemetry()
    if has("ServiceClient", "close"):
        service.close("success")
    uncalled = sorted(name for name in methods - called if not name.endswith(".get_telemetry"))
    is_torch_there = "custom" in results
    print(json.dumps({"sdk": tinker.__version__, "hasTorch": is_torch_there, "results": results, "uncalled": uncalled}, default=encoded))
    sys.stdout.flush()


def encoded(value):
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else str(value)


main()
