/** The shells with a completion. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** A word that may be typed. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** What may follow the commands of a path. */
export interface CompletionEntry {
  readonly path: readonly string[];
  readonly commands: readonly CompletionWord[];
  readonly options: readonly CompletionWord[];
}

/** A script that completes the command in a shell. It starts nothing: all words are in it. */
export function completionScript(shell: (typeof SHELLS)[number], entries: readonly CompletionEntry[]): string {
  return { bash, zsh, fish }[shell](entries);
}

/** The commands that are typed so far, joined by blanks, decide which words fit. */
function cases(entries: readonly CompletionEntry[], indent: string, line: (words: readonly string[]) => string): string {
  return entries
    .map(({ path, commands, options }) => `${indent}"${path.join(' ')}") ${line([...commands, ...options].map(({ word }) => word))} ;;`)
    .join('\n');
}

function bash(entries: readonly CompletionEntry[]): string {
  const names = [...new Set(entries.flatMap(({ path }) => path))].join('|');
  return `_tinkex() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      ${names}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases(entries, '    ', (words) => `words="${words.join(' ')}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _tinkex tinkex
`;
}

function zsh(entries: readonly CompletionEntry[]): string {
  const names = [...new Set(entries.flatMap(({ path }) => path))].join('|');
  return `#compdef tinkex
_tinkex() {
  local path_typed="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in
      ${names}) path_typed="\${path_typed:+$path_typed }$word" ;;
    esac
  done
  case "$path_typed" in
${cases(entries, '    ', (words) => `candidates=(${words.join(' ')})`)}
  esac
  compadd -a candidates
  _files
}
compdef _tinkex tinkex
`;
}

function fish(entries: readonly CompletionEntry[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = entries.flatMap(({ path, commands, options }) => {
    const children = commands.map(({ word }) => word).join(' ');
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const condition = [...seen, ...(children === '' ? [] : [`not __fish_seen_subcommand_from ${children}`])].join('; and ') || 'true';
    return [
      ...commands.map(({ word, description }) => `complete -c tinkex -f -n ${quoted(condition)} -a ${word} -d ${quoted(description)}`),
      ...options.map(({ word, description }) => `complete -c tinkex -n ${quoted(condition)} -l ${word.slice(2)} -d ${quoted(description)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}
