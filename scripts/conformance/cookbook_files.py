"""Opens the files that the TypeScript packages write, with the Python libraries they are for. Prints one JSON object.

    base FOLDER                      writes a small model of transformers, and the shapes of its linear layers
    adapter BASE ADAPTER MERGED      answers of the model with an adapter of peft, and of the merged model
    events FOLDER                    the scalars in event files, as TensorBoard reads them
"""

import json
import sys


def base(folder):
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        tie_word_embeddings=False,
    )
    model = Qwen3ForCausalLM(config).float()
    model.save_pretrained(folder)
    layers = {name: list(each.weight.shape) for name, each in model.named_modules() if isinstance(each, torch.nn.Linear)}
    return {"layers": layers}


def adapter(base_folder, adapter_folder, merged_folder):
    import torch
    from peft import PeftModel
    from safetensors import safe_open
    from transformers import AutoModelForCausalLM

    tokens = torch.tensor([[1, 5, 9, 33, 2, 60]])

    def answers(model):
        with torch.no_grad():
            return model(tokens).logits.flatten().tolist()

    plain = AutoModelForCausalLM.from_pretrained(base_folder, dtype=torch.float32)
    before = answers(plain)
    with_adapter = PeftModel.from_pretrained(plain, adapter_folder)
    merged = AutoModelForCausalLM.from_pretrained(merged_folder, dtype=torch.float32)
    with safe_open(f"{adapter_folder}/adapter_model.safetensors", "pt") as file:
        names = sorted(file.keys())
    used = {name for name, _ in with_adapter.named_parameters() if "lora_" in name}
    return {"before": before, "peft": answers(with_adapter), "merged": answers(merged), "tensors": len(names), "used": len(used)}


def events(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(folder)
    found.Reload()
    return {tag: [[each.step, each.value] for each in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


command, *args = sys.argv[1:]
print(json.dumps({"base": base, "adapter": adapter, "events": events}[command](*args)))
