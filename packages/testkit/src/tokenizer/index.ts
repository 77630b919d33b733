export { type ByteDecodeOptions, ByteTokenizer } from './byte-tokenizer.js';
export { byteVocabulary } from './vocabulary.js';
