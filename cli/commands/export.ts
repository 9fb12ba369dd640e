import { cpSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Argument, Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { reporting } from '../bad-input.ts';
import { writeChart } from '../export/chart.ts';
import { filesBelow, othersIn } from '../export/others.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly output: string;
}

/** Of the checkout, and of the package. */
const ROOT = join(import.meta.dirname, '..', '..');

interface Written {
  /** Files and folders, as they are named to people. */
  readonly paths: readonly string[];
  readonly files: readonly string[];
}

/** Copies files and folders of the package. */
function copied(from: Readonly<Record<string, string>>): (into: string) => Written {
  return (into) => {
    const all = Object.entries(from).map(([path, name]) => {
      const [source, to] = [join(ROOT, path), join(into, name)];
      cpSync(source, to, { recursive: true });
      return { to, files: filesBelow(source).map((file) => join(to, relative(source, file))) };
    });
    return { paths: all.map(({ to }) => to), files: all.flatMap(({ files }) => files) };
  };
}

interface Exported {
  readonly what: string;
  /** What is written is in them. */
  readonly folders: readonly string[];
  /** Writes below a folder, and says what. */
  readonly write: (into: string) => Written;
}

const EXPORTS: Readonly<Record<string, Exported>> = {
  chart: {
    what: 'the Helm chart of the CRDs, as the folder joiner-crds',
    folders: ['joiner-crds'],
    write: (into) => ({
      paths: [join(into, 'joiner-crds')],
      files: writeChart(packageJson.version, into),
    }),
  },
  terraform: {
    what: 'the Terraform module of the stack, as the folder joiner-terraform',
    folders: ['joiner-terraform'],
    write: copied({ 'infra/terraform': 'joiner-terraform' }),
  },
  manifests: {
    what: 'the CRDs, the RBAC of the functions and the flow schemas, below joiner-manifests',
    folders: ['joiner-manifests'],
    write: copied({
      'infra/crds': 'joiner-manifests/crds',
      'infra/rbac': 'joiner-manifests/rbac',
      'infra/flow-control': 'joiner-manifests/flow-control',
    }),
  },
  roles: {
    what: 'the ClusterRoles of people, of Headlamp and of rollouts at drains, below joiner-roles',
    folders: ['joiner-roles'],
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
    folders: ['examples', 'bench/compare'],
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

const OTHER = 'left as it is, but not of this version: remove it if an older version wrote it';

const HELP = `Files of the same names are overwritten. Nothing is removed: what else is in these folders is named.`;

async function run(name: string, { output }: Options): Promise<number> {
  mkdirSync(output, { recursive: true });
  const { [name]: chosen } = EXPORTS;
  if (chosen === undefined) return 0;
  const { paths, files } = chosen.write(output);
  for (const path of paths) writeOut(`${path}\n`);
  for (const path of chosen.folders.flatMap((folder) => othersIn(join(output, folder), files))) {
    writeErr(`note: ${path}: ${OTHER}\n`);
  }
  return 0;
}

/** `joiner export`: files that other tools read. */
export function exportCommand(): Command {
  return new Command('export')
    .description('write the Helm chart, the Terraform module, manifests or examples into a folder')
    .addArgument(new Argument('<what>', 'what to write').choices(NAMES))
    .option('-o, --output <folder>', 'where to write', '.')
    .addHelpText('after', `\n${listing()}\n\n${HELP}`)
    .action((name: string, options: Options) => reporting(() => run(name, options)));
}
