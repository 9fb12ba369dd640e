import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { reporting } from '../bad-input.ts';
import { writeChart } from '../export/chart.ts';

interface Options {
  readonly output: string;
}

/** Of the checkout, and of the package. */
const ROOT = join(import.meta.dirname, '..', '..');

/** Copies files and folders of the package, and names what it wrote. */
function copied(from: Readonly<Record<string, string>>): (into: string) => readonly string[] {
  return (into) =>
    Object.entries(from).map(([path, name]) => {
      const to = join(into, name);
      cpSync(join(ROOT, path), to, { recursive: true });
      return to;
    });
}

interface Exported {
  readonly what: string;
  /** Writes below a folder, and says what. */
  readonly write: (into: string) => readonly string[];
}

const EXPORTS: Readonly<Record<string, Exported>> = {
  chart: {
    what: 'the Helm chart of the CRDs, as the folder joiner-crds',
    write: (into) => {
      writeChart(packageJson.version, into);
      return [join(into, 'joiner-crds')];
    },
  },
  terraform: {
    what: 'the Terraform module of the stack, as the folder joiner-terraform',
    write: copied({ 'infra/terraform': 'joiner-terraform' }),
  },
  manifests: {
    what: 'the CRDs, the RBAC of the functions and the flow schemas, below joiner-manifests',
    write: copied({
      'infra/crds': 'joiner-manifests/crds',
      'infra/rbac': 'joiner-manifests/rbac',
      'infra/flow-control': 'joiner-manifests/flow-control',
    }),
  },
  roles: {
    what: 'the ClusterRoles of people, of Headlamp and of rollouts at drains, below joiner-roles',
    write: copied(
      Object.fromEntries(
        ['viewer', 'approver', 'handover', 'headlamp', 'rollout'].map((name) => [
          `docs/${name}-role.yaml`,
          `joiner-roles/${name}-role.yaml`,
        ]),
      ),
    ),
  },
  examples: {
    what: 'the examples of the documentation, and the workloads of its comparison',
    write: copied({ examples: 'examples', 'bench/compare': 'bench/compare' }),
  },
};

const NAMES = Object.keys(EXPORTS);

function listing(): string {
  const width = Math.max(...NAMES.map(({ length }) => length));
  return Object.entries(EXPORTS)
    .map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}`)
    .join('\n');
}

async function run(name: string, { output }: Options): Promise<number> {
  mkdirSync(output, { recursive: true });
  for (const path of EXPORTS[name]?.write(output) ?? []) process.stdout.write(`${path}\n`);
  return 0;
}

/** `joiner export`: files that other tools read. */
export function exportCommand(): Command {
  return new Command('export')
    .description('write the Helm chart, the Terraform module, manifests or examples into a folder')
    .addArgument(new Argument('<what>', 'what to write').choices(NAMES))
    .option('-o, --output <folder>', 'where to write', '.')
    .addHelpText('after', `\n${listing()}\n\nFiles of the same names are overwritten.`)
    .action((name: string, options: Options) => reporting(() => run(name, options)));
}
