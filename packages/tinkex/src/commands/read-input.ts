/** Everything that stdin has, without the last line break. */
export async function readAll(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk);
  return text.replace(/\r?\n$/, '');
}
