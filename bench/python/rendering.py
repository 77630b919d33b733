"""Rendering and tokenizing with Rust from Python, as `programs/rendering.ts` does it in JavaScript.

Takes a task (JSON, the only argument) and prints what was measured as its last line. One thread: the comparison is per core.
"""

import json
import os
import resource
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"


def tokenizers_encoder(task):
    """Only the text of the template and its tokens, without masks: the least that any renderer on top of it does."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(task["tokenizerFile"])

    def render(messages):
        parts = [f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>" for message in messages]
        return len(tokenizer.encode("\n".join(parts), add_special_tokens=False).ids)

    return render


def native_renderer(task):
    """The reference's Rust renderer: tokens and weights, one example per answer."""
    from tml_renderers import chat, renderers

    renderer = renderers.Qwen3()

    def render(messages):
        examples = renderer.render_for_sft(chat.OpenAIMessage.from_oss_messages(messages))
        tokens = 0
        for example in examples:
            tokens += sum(len(span.span.tokens) for span in example.input_token_spans)
            assert len(example.per_token_loss_weight_unshifted) > 0
        return tokens

    return render


task = json.loads(sys.argv[1])
with open(task["conversationsFile"], encoding="utf-8") as file:
    conversations = json.load(file)
render = {"tokenizers": tokenizers_encoder, "tml-renderers": native_renderer}[task["contender"]](task)
for messages in conversations["warmUp"]:
    render(messages)
cpu = time.process_time()
tokens = sum(render(messages) for messages in conversations["measured"])
cpu_ms = (time.process_time() - cpu) * 1000
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"peakRssBytes": peak, "cpuMicrosPerConversation": cpu_ms * 1000 / len(conversations["measured"]), "tokens": tokens}))
