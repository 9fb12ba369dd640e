/** The simple commands in a block that people type; enough of a shell's grammar for our pages. */

/** A word, or an operator between commands. */
interface Word {
  readonly text: string;
  readonly isOperator: boolean;
}

/** Words of one line; quotes group, `#` after a space begins a comment. */
function wordsOf(line: string): readonly Word[] {
  const pattern =
    /\s*(?:(#.*)$|(\d?>>?|<)|([;|&]+)|((?:'[^']*'|"[^"]*"|\$\([^)]*\)|\\.|\$\{[^}]*\}|[^\s'";|&<>\\])+))/gy;
  return [...line.matchAll(pattern)].flatMap(([, comment, redirect, separator, text]): Word[] => {
    if (comment !== undefined) return [];
    const operator = redirect ?? separator;
    if (operator !== undefined) return [{ text: operator, isOperator: true }];
    return [{ text: unquoted(text ?? ''), isOperator: false }];
  });
}

function unquoted(word: string): string {
  return word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_all, single, double, escaped) =>
    String(single ?? double ?? escaped),
  );
}

/** `a/{b,c}.yaml` → both. */
function expanded(word: string): readonly string[] {
  const [, before, inner, after] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/.exec(word) ?? [];
  if (inner === undefined) return [word];
  return inner.split(',').flatMap((each) => expanded(`${before}${each}${after}`));
}

export interface SimpleCommand {
  readonly words: readonly string[];
  /** The command whose output it reads. */
  readonly input?: SimpleCommand;
}

/** Commands of one line, without redirections. */
function commandsOf(line: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let input: SimpleCommand | undefined;
  let isFile = false;
  const end = (): void => {
    if (words.length > 0) commands.push({ words, ...(input === undefined ? {} : { input }) });
    words = [];
    input = undefined;
  };
  for (const { text, isOperator } of wordsOf(line)) {
    if (isOperator && /[<>]/.test(text)) isFile = true;
    else if (isOperator) {
      end();
      if (text === '|') input = commands.at(-1);
    } else if (isFile) isFile = false;
    else words.push(...expanded(text));
  }
  end();
  return commands;
}

/** Every simple command; a quoted text and a line that ends in `\` go on in the next one. */
export function commandsIn(text: string): readonly SimpleCommand[] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  const whole: string[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    if (last !== undefined && isOpen(last)) whole[whole.length - 1] = `${last} ${line.trim()}`;
    else whole.push(line);
  }
  return whole.flatMap(commandsOf);
}

function isOpen(line: string): boolean {
  const quotes = line.replaceAll(/"[^"]*"/g, '').replaceAll(/\s#.*$/g, '');
  return (quotes.match(/'/g)?.length ?? 0) % 2 === 1;
}

/** Names under which the pages run the command line. */
const JOINER: readonly (readonly string[])[] = [
  ['./joiner'],
  ['joiner'],
  ['eks-joiner'],
  ['npx', 'eks-joiner'],
  ['kubectl', 'joiner'],
  ['node', 'cli/bin/joiner.mjs'],
];

/** The words after the name of the command line; undefined: it is another command. */
export function joinerWords({ words }: SimpleCommand): readonly string[] | undefined {
  const name = JOINER.find((each) => each.every((word, at) => words[at] === word));
  return name === undefined ? undefined : words.slice(name.length);
}
