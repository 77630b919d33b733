/** Whether a whole text fits a pattern: `*` stands for any characters, `?` for one, `[abc]` and `[!abc]` for one of them and none of them. A pattern that ends with `/` is a folder. */
export function matchesGlob(text: string, pattern: string): boolean {
  const whole = pattern.endsWith('/') ? `${pattern}*` : pattern;
  const source = whole.replace(/\[(!?)([^\]]+)\]|[\s\S]/g, (part, not: string | undefined, set: string | undefined) => {
    if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\^]/g, '\\$&')}]`;
    if (part === '*') return '[\\s\\S]*';
    return part === '?' ? '[\\s\\S]' : part.replace(/[\\^$.|+(){}[\]/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`).test(text);
}
