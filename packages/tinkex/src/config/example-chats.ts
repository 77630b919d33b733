/** The name of the example file. */
export const EXAMPLE_FILE = 'chats.jsonl';

const PAIRS = [
  ['What is the capital of France?', 'Paris.'],
  ['What is the capital of Japan?', 'Tokyo.'],
  ['What is the capital of Kenya?', 'Nairobi.'],
  ['What is the capital of Peru?', 'Lima.'],
  ['What is the capital of Canada?', 'Ottawa.'],
  ['What is the capital of Norway?', 'Oslo.'],
  ['What is the capital of Egypt?', 'Cairo.'],
  ['What is the capital of India?', 'New Delhi.'],
  ['Who are you?', 'I am the model you trained.'],
  ['What can you do?', 'I can name capitals.'],
  ['Hello', 'Hello! Ask me for a capital.'],
  ['Thank you', 'You are welcome.'],
] as const;

const CONVERSATIONS = 36;
const TURNS = 4;

/**
 * Conversations for users who have none yet: short, so that the embedded engine learns them in a minute, and most of them with several turns in no order, so that a
 * chat can continue with any question.
 */
export const EXAMPLE_CHATS = [...PAIRS.map((pair) => [pair]), ...mixedConversations()]
  .map((turns) => {
    const messages = turns.flatMap(([question, answer]) => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]);
    return `${JSON.stringify({ messages })}\n`;
  })
  .join('');

/** The same for everybody: a separate small generator with a fixed start. */
function mixedConversations(): (readonly [string, string])[][] {
  let state = 7;
  const drawPair = (): readonly [string, string] => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return PAIRS[Math.floor((state / 2 ** 31) * PAIRS.length)] ?? PAIRS[0];
  };
  return Array.from({ length: CONVERSATIONS }, () => Array.from({ length: TURNS }, drawPair));
}
