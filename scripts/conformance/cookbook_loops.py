"""Runs what the Python cookbook has, as the settings in the first argument (JSON) say. Prints one JSON object.

The TypeScript cookbook does the same in cookbook-loops.ts: change both together. The benchmark in bench/python/supervised_loop.py imports this file.
"""

import asyncio
import json
import sys

import chz
import datasets
import tinker
from tinker_cookbook.preference import train_dpo
from tinker_cookbook.preference.dpo_datasets import DPODatasetBuilderFromComparisons
from tinker_cookbook.preference.preference_datasets import ComparisonDatasetBuilder
from tinker_cookbook.preference.types import Comparison, LabeledComparison
from tinker_cookbook.rl import train as rl_train
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, RLDataset, RLDatasetBuilder, StepResult
from tinker_cookbook.supervised import train as sft_train
from tinker_cookbook.supervised.data import FromConversationFileBuilder
from tinker_cookbook.supervised.types import ChatDatasetBuilderCommonConfig
from tinker_cookbook.tokenizer_utils import register_tokenizer

MODEL = "tinkex/tiny"
SPECIAL = {"<|bos|>": 256, "<|eos|>": 257, "<|pad|>": 258, "<|eot|>": 259}


class ByteTokenizer:
    """The tokenizer of the embedded engine: UTF-8 bytes and four special tokens."""

    # Never added by itself.
    bos_token, bos_token_id = None, None
    eos_token, eos_token_id = "<|eos|>", 257
    all_special_ids = list(SPECIAL.values())
    name_or_path = MODEL

    def encode(self, text, add_special_tokens=False):
        return [SPECIAL[text]] if text in SPECIAL else list(text.encode("utf-8"))

    def decode(self, ids, **_):
        ids = [ids] if isinstance(ids, int) else ids
        return bytes(each for each in ids if each < 256).decode("utf-8", errors="replace")


register_tokenizer(MODEL, ByteTokenizer)


def common(settings):
    return ChatDatasetBuilderCommonConfig(
        model_name_for_tokenizer=MODEL, renderer_name="role_colon", max_length=None, batch_size=settings["batch_size"]
    )


def sft(settings):
    config = sft_train.Config(
        log_path=settings["log_path"],
        model_name=MODEL,
        recipe_name="conformance",
        renderer_name="role_colon",
        base_url=settings["base_url"],
        dataset_builder=FromConversationFileBuilder(
            file_path=settings["file"], test_size=settings["test_size"], shuffle_seed=0, common_config=common(settings)
        ),
        learning_rate=settings["learning_rate"],
        lr_schedule=settings["lr_schedule"],
        num_epochs=settings["num_epochs"],
        lora_rank=8,
        eval_every=settings["eval_every"],
        save_every=settings["save_every"],
        max_steps=settings.get("max_steps"),
    )
    asyncio.run(sft_train.main(config))


class VowelEnv(Env):
    """Rewards vowels, in one turn or two."""

    def __init__(self, question, turns):
        self.tokens, self.turns, self.turn = list(question.encode("utf-8")), turns, 0

    def observation(self):
        return tinker.ModelInput.from_ints(self.tokens)

    async def initial_observation(self):
        return self.observation(), ["."]

    async def step(self, action, *, extra=None):
        vowels = sum(each < 256 and chr(each) in "aeiou" for each in action) / len(action) if action else 0.0
        self.tokens = [*self.tokens, *action, 10]
        self.turn += 1
        return StepResult(
            reward=vowels,
            episode_done=self.turn >= self.turns,
            next_observation=self.observation(),
            next_stop_condition=["."],
            metrics={"vowels": vowels},
        )


class VowelGroup(EnvGroupBuilder):
    def __init__(self, index, size, turns):
        self.index, self.size, self.turns = index, size, turns

    async def make_envs(self):
        return [VowelEnv(f"vowels {self.index % 10}:", self.turns) for _ in range(self.size)]

    def logging_tags(self):
        return ["even" if self.index % 2 == 0 else "odd"]


class VowelDataset(RLDataset):
    def __init__(self, settings):
        self.settings = settings

    def get_batch(self, index):
        per_batch = self.settings["groups_per_batch"]
        first = index * per_batch
        return [
            VowelGroup(each, self.settings["group_size"], self.settings["turns"]) for each in range(first, first + per_batch)
        ]

    def __len__(self):
        return self.settings["batches"]


@chz.chz
class VowelBuilder(RLDatasetBuilder):
    settings: str

    async def __call__(self):
        return VowelDataset(json.loads(self.settings)), None


def rl(settings):
    kl = {}
    if settings["kl_penalty_coef"] > 0:
        kl = {
            "kl_penalty_coef": settings["kl_penalty_coef"],
            "kl_reference_config": rl_train.KLReferenceConfig(base_model=MODEL),
        }
    config = rl_train.Config(
        learning_rate=settings["learning_rate"],
        dataset_builder=VowelBuilder(settings=json.dumps(settings)),
        model_name=MODEL,
        recipe_name="conformance",
        base_url=settings["base_url"],
        max_tokens=settings["max_tokens"],
        log_path=settings["log_path"],
        eval_every=0,
        save_every=settings["save_every"],
        lora_rank=8,
        loss_fn=settings["loss_fn"],
        compute_post_kl=True,
        **kl,
    )
    asyncio.run(rl_train.main(config))


@chz.chz
class Comparisons(ComparisonDatasetBuilder):
    file: str

    def get_train_and_test_datasets(self):
        with open(self.file, encoding="utf-8") as lines:
            return datasets.Dataset.from_list([json.loads(line) for line in lines]), None

    def example_to_labeled_comparison(self, example):
        comparison = example["comparison"]
        return LabeledComparison(
            comparison=Comparison(
                prompt_conversation=comparison["prompt_conversation"],
                completion_A=comparison["completion_A"],
                completion_B=comparison["completion_B"],
            ),
            label=example["label"],
        )


def dpo(settings):
    config = train_dpo.Config(
        log_path=settings["log_path"],
        model_name=MODEL,
        recipe_name="conformance",
        renderer_name="role_colon",
        base_url=settings["base_url"],
        dataset_builder=DPODatasetBuilderFromComparisons(
            comparison_builder=Comparisons(file=settings["file"]), common_config=common(settings)
        ),
        learning_rate=settings["learning_rate"],
        num_epochs=settings["num_epochs"],
        lora_rank=8,
        eval_every=0,
        save_every=0,
    )
    train_dpo.main(config)


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    {"sft": sft, "rl": rl, "dpo": dpo}[settings["loop"]](settings)
    print(json.dumps({"done": settings["loop"]}))
