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

/** Conversations for users who have none yet: few and short, so that the embedded engine learns them in a minute. */
export const EXAMPLE_CHATS = PAIRS.map(([question, answer]) => {
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  return `${JSON.stringify({ messages })}\n`;
}).join('');
