"""What a user of the Python SDK does, against the server named by TINKER_BASE_URL.

The TypeScript client does the same, call for call, in packages/clients/test/support/conformance-flow.ts: change both together.
Prints one JSON object with what came back.
"""

import json
import sys
import urllib.request

import numpy as np
import tinker
from tinker import types

MODEL = "tinkex/tiny"


def next_token(tokens):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1]),
            "weights": types.TensorData(data=[1.0] * (len(tokens) - 1), dtype="float32", shape=[len(tokens) - 1]),
        },
    )


def policy(tokens):
    count = len(tokens) - 1
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=tokens[1:], dtype="int64", shape=[count]),
            "logprobs": types.TensorData(data=[-1.5] * count, dtype="float32", shape=[count]),
            "advantages": types.TensorData(data=[0.5] * count, dtype="float32", shape=[count]),
        },
    )


def numbers(output):
    return [[float(value) for value in entry["logprobs"].tolist()] for entry in output.loss_fn_outputs]


def losses(output):
    return {name: float(value) for name, value in sorted(output.metrics.items())}


def train(service, results):
    training = service.create_lora_training_client(
        base_model=MODEL, rank=4, seed=7, train_unembed=False, user_metadata={"purpose": "conformance"}
    )
    results["modelId"] = training.get_info().model_id
    data = [next_token([(3 * row + 5 * place) % 200 for place in range(6)]) for row in range(7)]
    # Nothing is awaited before everything is called; seven datums make three chunks.
    futures = []
    for step in range(2):
        futures.append(training.forward_backward(data, "cross_entropy"))
        futures.append(training.optim_step(types.AdamParams(learning_rate=0.01, weight_decay=0.1, grad_clip_norm=1.0)))
    futures.append(training.forward(data[:2], "cross_entropy"))
    first, _, second, _, forward = [future.result() for future in futures]
    results["losses"] = [losses(first), losses(second), losses(forward)]
    results["logprobs"] = numbers(forward)
    ppo = training.forward_backward(
        [policy([9, 8, 7, 6])], "ppo", loss_fn_config={"clip_low_threshold": 0.75, "clip_high_threshold": 1.25}
    ).result()
    results["ppo"] = losses(ppo)
    training.optim_step(types.AdamParams(learning_rate=0.01)).result()
    return training, data


def custom_loss(training, data, results):
    try:
        import torch
    except ImportError:
        return False

    def loss(_data, logprobs):
        total = sum((-row.sum() for row in logprobs), torch.zeros(()))
        return total, {"total": float(total)}

    output = training.forward_backward_custom(data[:2], loss).result()
    results["customTotal"] = float(output.metrics["total"])
    training.optim_step(types.AdamParams(learning_rate=0.01)).result()
    return True


def save_and_resume(service, training, data, results):
    state = training.save_state("state-1").result().path
    training.save_state("state-1", ttl_seconds=3600, overwrite=True).result()
    sampler = training.save_weights_for_sampler("sampler-1", ttl_seconds=7200).result().path
    training.load_state(state).result()
    training.load_state_with_optimizer(state).result()
    exact = service.create_training_client_from_state_with_optimizer(state)
    fresh = service.create_training_client_from_state(state, user_metadata={"purpose": "branch"})
    results["paths"] = [state, sampler]
    results["resumed"] = [losses(client.forward(data[:1], "cross_entropy").result()) for client in (exact, fresh)]
    return state, sampler


def sample(service, training, sampler_path, results):
    prompt = types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[10, 20]), types.EncodedTextChunk(tokens=[30])])
    tuned = service.create_sampling_client(model_path=sampler_path)
    base = service.create_sampling_client(base_model=MODEL)
    params = types.SamplingParams(max_tokens=5, seed=3, temperature=0.7, top_k=20, top_p=0.9, stop=[0])
    one = tuned.sample(prompt=prompt, num_samples=2, sampling_params=params).result()
    two = base.sample(
        prompt=prompt,
        num_samples=1,
        sampling_params=types.SamplingParams(max_tokens=3, seed=4, stop=["zz"]),
        include_prompt_logprobs=True,
        topk_prompt_logprobs=2,
    ).result()
    results["samples"] = [[int(token) for token in sequence.tokens] for sequence in [*one.sequences, *two.sequences]]
    results["promptLogprobs"] = [None if value is None else float(value) for value in two.prompt_logprobs]
    results["computed"] = [None if value is None else float(value) for value in base.compute_logprobs(prompt).result()]
    unnamed = training.save_weights_and_get_sampling_client()
    greedy = unnamed.sample(prompt=prompt, num_samples=1, sampling_params=types.SamplingParams(max_tokens=4, temperature=0)).result()
    results["greedy"] = [int(token) for token in greedy.sequences[0].tokens]
    results["baseModel"] = unnamed.get_base_model()


def manage(service, state, sampler_path, model_id, results):
    rest = service.create_rest_client()
    run = rest.get_training_run(model_id).result()
    results["run"] = [run.training_run_id, run.base_model, run.lora_rank]
    results["runCount"] = len(rest.list_training_runs(limit=2, offset=0).result().training_runs)
    rest.get_training_run_by_tinker_path(state).result()
    results["checkpoints"] = sorted(item.checkpoint_id for item in rest.list_checkpoints(model_id).result().checkpoints)
    results["userCheckpoints"] = len(rest.list_user_checkpoints(limit=10).result().checkpoints)
    results["weightsInfo"] = rest.get_weights_info_by_tinker_path(state).result().base_model
    rest.publish_checkpoint_from_tinker_path(sampler_path).result()
    rest.unpublish_checkpoint_from_tinker_path(sampler_path).result()
    rest.set_checkpoint_ttl_from_tinker_path(sampler_path, 3600).result()
    rest.set_checkpoint_ttl_from_tinker_path(sampler_path, None).result()
    # Newer versions have no such method any more.
    if hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
        url = rest.get_checkpoint_archive_url_from_tinker_path(sampler_path).result().url
        with urllib.request.urlopen(url, timeout=30) as answer:
            results["archiveIsTar"] = len(answer.read()) % 512 == 0
    session = model_id.split(":")[0]
    results["session"] = sorted(rest.get_session(session).result().training_run_ids)
    results["sessions"] = rest.list_sessions(limit=5).result().sessions
    rest.delete_checkpoint_from_tinker_path(sampler_path).result()


def main():
    results = {"sdk": tinker.__version__}
    service = tinker.ServiceClient(user_metadata={"suite": "conformance"})
    models = service.get_server_capabilities().supported_models
    results["models"] = [[model.model_name, model.max_context_length] for model in models]
    training, data = train(service, results)
    results["hasTorch"] = custom_loss(training, data, results) if "--torch" in sys.argv else False
    state, sampler_path = save_and_resume(service, training, data, results)
    sample(service, training, sampler_path, results)
    manage(service, state, sampler_path, results["modelId"], results)
    print(json.dumps(results, allow_nan=False, default=lambda value: value.item() if isinstance(value, np.generic) else str(value)))


main()
