"""Prints the digests of `real-vocabularies.test.ts` from Python's `tokenizers` (0.22.2): python python-ids.py texts.json tokenizer.json

texts.json is what `mixedTexts(…)` returns, written with JSON.stringify (lone surrogates replaced by U+FFFD).
"""

import hashlib
import json
import struct
import sys

from tokenizers import Tokenizer

texts = json.load(open(sys.argv[1]))
tokenizer = Tokenizer.from_file(sys.argv[2])
digest = hashlib.sha256()
count = 0
for text in texts:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    digest.update(struct.pack(f"<{len(ids)}i", *ids))
    count += len(ids)
print(count, digest.hexdigest()[:32])
