/** Everything that a stream has, without the last line break. */
export async function readAll(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) text += String(chunk);
  return text.replace(/\r?\n$/, '');
}
