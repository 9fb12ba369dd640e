/** `npm run bench -- NAME …`: runs one benchmark of this folder; without a name, lists them. */
import { readdirSync } from 'node:fs';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
  .sort();

const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  process.stderr.write(`usage: npm run bench -- NAME; benchmarks: ${names.join(', ')}\n`);
  process.exitCode = 2;
} else {
  const { run } = (await import(`./${name}.bench.ts`)) as {
    readonly run: (args: readonly string[]) => Promise<void> | void;
  };
  await run(rest);
}
