import { type Candidate, completionsOf, type NamesOf } from './completions.ts';
import { clusterNames } from './names.ts';

/** What a shell's script is told beside the candidates: cobra's numbers, which kubectl knows, too. */
const DIRECTIVE = { files: 0, noFiles: 4 } as const;

function line({ value, description }: Candidate): string {
  return description === '' ? value : `${value}\t${description}`;
}

/** The answer to a shell: a candidate a line, and a directive in the last one. */
export async function completionAnswer(
  words: readonly string[],
  namesOf: NamesOf = clusterNames,
): Promise<string> {
  const { candidates, files } = await completionsOf(words, namesOf);
  const directive = `:${files ? DIRECTIVE.files : DIRECTIVE.noFiles}`;
  return `${[...candidates.map(line), directive].join('\n')}\n`;
}
