import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];

/** The letters that stand for bytes in byte-level vocabularies: printable ones for themselves, the others from 256 up. */
function byteLetters(): string[] {
  const isPrintable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
}

/** Writes the files of a tokenizer without merges: each byte is a token. */
export async function writeTokenizer(folder: string, chatTemplate: string): Promise<void> {
  const letters = byteLetters();
  const vocab = Object.fromEntries(letters.map((letter, id) => [letter, id]));
  const added = SPECIAL.map((content, index) => ({
    ...{ id: letters.length + index, content, special: true },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  }));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const split = { type: 'Split', pattern: { Regex: '\\s+|\\S+' }, behavior: 'Isolated', invert: false };
  const tokenizer = {
    ...{ version: '1.0', truncation: null, padding: null, normalizer: null, post_processor: null, added_tokens: added },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [split, byteLevel] },
    decoder: byteLevel,
    model: { type: 'BPE', vocab, merges: [], dropout: null, unk_token: null, byte_fallback: false },
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify({ eos_token: '<|im_end|>', chat_template: chatTemplate }));
}
