"""The recall model in PyTorch, on one core, trained as `programs/recall-engine.ts` trains the engine: the same keys, relations, scales, loss and optimizer.

Everything is computed for a whole context at a time with tensor operations, as PyTorch wants it. Hashes are others, so the frozen noise of the base model is
too: the losses of both agree to about a percent. Takes a task (JSON, the only argument) and prints what was measured as its last line.
"""

import json
import os
import resource
import statistics
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import torch

torch.set_num_threads(1)

VOCABULARY, CLASSES, START = 260, 16, 1 << 19
ORDERS = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32]
SCALES = torch.tensor([1, 1, 1, 1, 2, 2, 3, 4, 6, 6, 6, 10, 6], dtype=torch.float32)
KEYS = len(SCALES)
OFFSETS, LOOKED_UP, DEPTHS, STEPS, SUFFIXES = 16, [1, 2, 4], 12, [-2, -1, 1, 2, 3], [3, 6, 8, 16]
RELATIONS = OFFSETS + len(LOOKED_UP) * DEPTHS * len(STEPS) + len(SUFFIXES)
GATES, WINDOW, COPY_SCALE, GATED_COPY_SCALE = 256, 2048, 4.0, 8.0
TOKEN_SCALE, TOKEN_BOUND = 2, 16
FIRST_PAIR = (1 + GATES) * RELATIONS
ROOM = 1 << 19
BITS = (1 << 32) - 1
WARM_UP_STEPS, MEASURED_STEPS = 6, 9


def mixed(values):
    values = ((values ^ (values >> 16)) * 0x45D9F3B) & BITS
    return values ^ (values >> 15)


def ngram_hashes(context):
    """The hashes of the n-grams that end at each position, by length."""
    padded = torch.cat([torch.full((ORDERS[-1] - 1,), START), context])
    hashes, value = {}, torch.full_like(context, 0x1E3779B9)
    for length in range(1, ORDERS[-1] + 1):
        start = ORDERS[-1] - length
        value = ((value ^ (padded[start : start + len(context)] + 1)) * 0x5EBCA6B) & BITS
        value = value ^ (value >> 15)
        hashes[length] = value
    return hashes


def last_occurrences(hashes, length, positions):
    """Where the n-gram that ends at each position stood before, or -1."""
    ordered, order = torch.sort(hashes[length], stable=True)
    is_same = ordered[1:] == ordered[:-1]
    found = torch.full_like(positions, -1)
    found[order[1:][is_same]] = order[:-1][is_same]
    return torch.where((positions < length - 1) | (positions - found > WINDOW), -1, found)


def features(context):
    """The keys, the sources of the relations, the gates, and the base odds of every position."""
    positions = torch.arange(len(context))
    hashes = ngram_hashes(context)
    earlier = {length: last_occurrences(hashes, length, positions) for length in [*LOOKED_UP, *SUFFIXES]}
    suggestion = torch.full_like(context, -1)
    for length in sorted(earlier):
        suggestion = torch.where(earlier[length] >= 0, context[earlier[length] + 1], suggestion)
    prefix = torch.cumsum((context + 1) * mixed(positions + 77), 0) & BITS
    keys = torch.stack([*(hashes[length] for length in ORDERS), mixed(prefix), suggestion + 2], 1) * 16 + torch.arange(KEYS)
    places = [positions - back for back in range(OFFSETS)]
    for length in LOOKED_UP:
        for depth in range(DEPTHS):
            at = positions - depth
            found = torch.where(at < 0, -1, earlier[length][at.clamp(min=0)])
            places += [torch.where(found < 0, -1, found + step if step > 0 else found - length + 1 + step) for step in STEPS]
    places += [torch.where(earlier[length] < 0, -1, earlier[length] + 1) for length in SUFFIXES]
    sources = torch.stack(places, 1)
    gone = (sources < 0) | (sources > positions[:, None]) | (positions[:, None] - sources > WINDOW)
    sources = torch.where(gone, -1, context[sources.clamp(min=0, max=len(context) - 1)])
    gates = 1 + (hashes[1] & (GATES - 1))
    odds = mixed(hashes[2][:, None] ^ mixed(torch.arange(CLASSES) + 5)).float() / 2**32 - 0.5
    return keys, sources, gates, odds[:, torch.arange(VOCABULARY) % CLASSES]


class Pairs:
    """Pairs of a key and a token, sorted, with the number of the weight of each."""

    def __init__(self):
        self.codes = torch.empty(0, dtype=torch.long)
        self.numbers = torch.empty(0, dtype=torch.long)

    def add(self, keys, targets):
        new = torch.unique(((keys << 9) | targets[:, None]).flatten())
        place = torch.searchsorted(self.codes, new)
        if len(self.codes) > 0:
            new = new[self.codes[place.clamp(max=len(self.codes) - 1)] != new]
            place = torch.searchsorted(self.codes, new)
        count = len(self.codes)
        places = place + torch.arange(len(new))
        is_new = torch.zeros(count + len(new), dtype=torch.bool)
        is_new[places] = True
        codes, numbers = torch.empty(len(is_new), dtype=torch.long), torch.empty(len(is_new), dtype=torch.long)
        codes[is_new], numbers[is_new] = new, torch.arange(count, count + len(new))
        codes[~is_new], numbers[~is_new] = self.codes, self.numbers
        self.codes, self.numbers = codes, numbers

    def terms(self, keys):
        """For each pair of each key: the score that it is added to, its weight, and its scale."""
        flat = keys.flatten()
        first = torch.searchsorted(self.codes, flat << 9)
        counts = torch.searchsorted(self.codes, (flat + 1) << 9) - first
        before = torch.cumsum(counts, 0) - counts
        found = torch.repeat_interleave(first - before, counts) + torch.arange(int(counts.sum()))
        owner = torch.repeat_interleave(torch.arange(len(flat)), counts)
        return (owner // KEYS) * VOCABULARY + (self.codes[found] & 511), FIRST_PAIR + self.numbers[found], SCALES[owner % KEYS]


def relation_terms(sources, gates):
    position, relation = torch.nonzero(sources >= 0, as_tuple=True)
    output = position * VOCABULARY + sources[position, relation]
    scales = torch.tensor([COPY_SCALE, GATED_COPY_SCALE]).repeat_interleave(len(output))
    return output.repeat(2), torch.cat([relation, gates[position] * RELATIONS + relation]), scales


task = json.loads(sys.argv[1])
tokens = task["tokens"]
with open(task["file"], "rb") as file:
    text = torch.tensor(list(file.read((WARM_UP_STEPS + MEASURED_STEPS) * tokens + 1)))
pairs = Pairs()
weights = torch.zeros(FIRST_PAIR + ROOM, requires_grad=True)
token_weights = torch.zeros(VOCABULARY, requires_grad=True)
occurs = torch.zeros(VOCABULARY)
optimizer = torch.optim.AdamW([weights, token_weights], lr=1e-2, betas=(0.9, 0.95), eps=1e-12, weight_decay=0, fused=True)

seconds, seconds_of_features = [], []
for step in range(WARM_UP_STEPS + MEASURED_STEPS):
    context, targets = text[step * tokens : (step + 1) * tokens], text[step * tokens + 1 : (step + 1) * tokens + 1]
    start = time.process_time()
    keys, sources, gates, odds = features(context)
    pairs.add(keys, targets)
    occurs[targets] = 1
    outputs, parameters, scales = (torch.cat(both) for both in zip(pairs.terms(keys), relation_terms(sources, gates)))
    found = time.process_time()
    scores = odds.flatten().index_add(0, outputs, weights.index_select(0, parameters) * scales).view(tokens, VOCABULARY)
    logits = scores + TOKEN_BOUND * torch.tanh(TOKEN_SCALE * token_weights * occurs / TOKEN_BOUND)
    loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step >= WARM_UP_STEPS:
        seconds.append(time.process_time() - start)
        seconds_of_features.append(found - start)

peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
measured = {
    "tokensPerCpuSecond": tokens / statistics.median(seconds),
    "shareOfFeatures": statistics.median(seconds_of_features) / statistics.median(seconds),
    "loss": loss.item() / tokens,
}
print(json.dumps({"peakRssBytes": peak, **measured}))
