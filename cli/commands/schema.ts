import { Argument, Command } from 'commander';
import { meant } from '../../shared/contract/nearest.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { jsonText } from '../json.ts';
import { jsonSchemaOf, SCHEMAS } from '../schema/schemas.ts';
import { writeOut } from '../terminal.ts';

function listing(): string {
  const width = Math.max(...Object.keys(SCHEMAS).map(({ length }) => length));
  return Object.entries(SCHEMAS)
    .map(([name, { what }]) => `${name.padEnd(width)}  ${what}\n`)
    .join('');
}

async function run(name: string | undefined): Promise<number> {
  if (name === undefined) {
    writeOut(listing());
    return 0;
  }
  const found = SCHEMAS[name];
  if (found === undefined) {
    const near = meant(name, Object.keys(SCHEMAS));
    throw new BadInput([
      `${name}: there is no schema of that name${near}; joiner schema lists them`,
    ]);
  }
  writeOut(jsonText(jsonSchemaOf(name, found)));
  return 0;
}

/** `joiner schema`: what other programs may rely on. */
export function schemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of a document that other programs read')
    .addArgument(new Argument('[name]', 'a name of the list; default: print the list of names'))
    .action((name: string | undefined) => reporting(() => run(name)));
}
