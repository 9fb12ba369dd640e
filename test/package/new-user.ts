/** What a new user does with the package alone, in a folder in which it is installed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { writeRelease } from '../../infra/release.ts';
import { crdFiles } from '../../shared/api/crds/text.ts';
import { VARIANTS } from '../infra/variants.ts';
import { textOf } from '../support/repository.ts';
import { output, run, write } from './installation.ts';

/** The pages that a new user reads first, and where the account begins in them. */
const PAGES = [
  { page: 'README.md', until: '## On your own manifests' },
  { page: 'docs/start/quick-start.md', until: '## On your own manifests' },
  { page: 'docs/start/first-cluster.md', until: '    kubectl apply -f my-pools/' },
  { page: 'docs/tasks/spot.md', until: '## Keep a workload off spot' },
] as const;

/** Commands that need neither a cluster nor an account. */
const ALONE = /^ {4}(?:npx eks-joiner|joiner) ((?:export|simulate|compare|explain) .*)$/gm;

function has(program: string): boolean {
  return spawnSync(program, ['version']).status === 0;
}

/** Providers of Terraform in a folder; without it the module is not validated. */
const PLUGINS = process.env['JOINER_TERRAFORM_PLUGINS'];

const SLOW = 240_000;

/** The stack with most settings, and the one that never acts; `test/infra/templates` has all. */
const TEMPLATES = ['shared-bucket', 'shadow'] as const;

/** `place` is the folder of the installation, once it is there. */
export function asNewUser(place: () => string): void {
  const joiner = (cwd: string, ...args: readonly string[]): string =>
    output(cwd, [join(place(), 'node_modules', '.bin', 'joiner'), ...args]);
  const folderOf = (name: string): string => {
    const folder = join(place(), name);
    mkdirSync(folder, { recursive: true });
    return folder;
  };

  describe.each(PAGES)('$page', ({ page, until }) => {
    it(
      'runs from the top to where an account is needed',
      () => {
        const text = textOf(page).split(until)[0] ?? '';
        const folder = folderOf(page.replaceAll(/\W/g, '-'));
        for (const [, name = '', yaml = ''] of text.matchAll(/```yaml\n# (\S+)\n(.*?)```/gs)) {
          write(folder, { [name]: yaml });
        }
        const lines = [...text.matchAll(ALONE)].map(([, words = '']) =>
          words.replace(/ +#.*/, '').split(/ +/),
        );
        const commands = lines.filter((words) => !words.includes('my-manifests/'));
        expect(commands.length).toBeGreaterThan(0);
        // Nothing else is in the folder: what a page names, an earlier line of it has written.
        for (const words of commands) expect(joiner(folder, ...words)).not.toBe('');
      },
      SLOW,
    );
  });

  describe('joiner template of the package', () => {
    it.each(TEMPLATES)(
      'makes of %s what the checkout does',
      (name) => {
        const folder = folderOf(`template-${name}`);
        const props: Readonly<Record<string, unknown>> = VARIANTS[name].joiner;
        writeFileSync(join(folder, 'settings.json'), JSON.stringify(props));
        const settings = ['--settings', 'settings.json', '--bucket', 'releases'];
        joiner(folder, 'template', '--cluster', 'demo', ...settings, '--prefix', 'joiner/1/');
        const functions = join(place(), 'node_modules', 'eks-joiner', 'functions');
        const code = (each: string) => lambda.Code.fromAsset(join(functions, each));
        writeRelease({
          joiner: { ...VARIANTS[name].joiner, code },
          bucket: 'releases',
          prefix: 'joiner/1/',
          folder: join(folder, 'checkout'),
        });
        const made = (from: string) => readFileSync(join(folder, from, 'template.json'), 'utf8');
        expect(made('joiner-template')).toBe(made('checkout'));
        const archives = (from: string) => readdirSync(join(folder, from, 'joiner/1')).sort();
        expect(archives('joiner-template')).toEqual(archives('checkout'));
      },
      SLOW,
    );

    it('says all that is wrong with settings', () => {
      const args = ['template', '--cluster', 'demo', '--bucket', 'b-1', '--set', 'reaction=poll'];
      const command = join(place(), 'node_modules', '.bin', 'joiner');
      const { status, stderr } = run(folderOf('wrong'), [command, ...args]);
      expect(stderr).toContain("reaction is \"poll\", but has to be 'watch' or 'tick'");
      expect(status).toBe(2);
    });
  });

  describe('the app of the package', () => {
    it('is what cdk.json of the pages names, and makes the stack of a cluster', () => {
      const [, json = '{}'] = /echo '(\{.*\})' > cdk\.json/.exec(textOf('README.md')) ?? [];
      const [program = '', file = ''] = String(JSON.parse(json).app).split(' ');
      const variables = {
        CDK_CONTEXT_JSON: JSON.stringify({ cluster: 'demo', region: 'eu-west-1' }),
        CDK_OUTDIR: join(place(), 'of-the-app'),
      };
      expect(run(place(), [program, file], undefined, variables)).toMatchObject({ status: 0 });
      const manifest = JSON.parse(readFileSync(join(place(), 'of-the-app/manifest.json'), 'utf8'));
      expect(manifest.artifacts['joiner-demo'].properties.terminationProtection).toBe(true);
      const made = readFileSync(join(place(), 'of-the-app/joiner-demo.template.json'), 'utf8');
      expect(made).toContain('JoinerNode-eu-west-1-demo');
    });
  });

  describe('what the package exports', () => {
    let folder = '';
    beforeAll(() => {
      folder = folderOf('exported');
      for (const what of ['chart', 'terraform', 'manifests', 'roles']) {
        joiner(folder, 'export', what);
      }
    });

    it('has the CRDs in the chart and among the manifests', () => {
      for (const crds of ['joiner-crds/templates', 'joiner-manifests/crds']) {
        expect(readdirSync(join(folder, crds)).sort()).toEqual([...crdFiles().keys()].sort());
      }
    });

    it('has ClusterRoles for people', () => {
      const roles = readdirSync(join(folder, 'joiner-roles'));
      expect(roles).toHaveLength(5);
      for (const name of roles) {
        const [role] = parseAllDocuments(readFileSync(join(folder, 'joiner-roles', name), 'utf8'));
        expect(role?.toJS()).toMatchObject({ kind: 'ClusterRole' });
      }
    });

    it.skipIf(!has('helm'))('is a chart that Helm renders', () => {
      const rendered = output(folder, ['helm', 'template', 'joiner-crds', 'joiner-crds']);
      const kinds = parseAllDocuments(rendered).map((each) => each.toJS().kind);
      expect(kinds).toEqual([...crdFiles()].map(() => 'CustomResourceDefinition'));
    });

    it.skipIf(PLUGINS === undefined)('is a module that is valid', () => {
      const [, program = ''] = /```hcl\n(.*?)```/s.exec(textOf('docs/deploy.md')) ?? [];
      write(folder, { 'main.tf': program });
      output(folder, ['terraform', 'init', '-no-color', `-plugin-dir=${PLUGINS}`]);
      expect(output(folder, ['terraform', 'validate', '-no-color'])).toContain('valid');
    });
  });

  it('finds its addresses in package.json', () => {
    const home = join(place(), 'node_modules', 'eks-joiner', 'package.json');
    const { homepage, repository, bugs } = parse(readFileSync(home, 'utf8'));
    expect([homepage, repository.url, bugs].filter((each) => !/https:\/\//.test(each))).toEqual([]);
    expect(joiner(place(), 'simulate', '--help')).toContain(`${homepage}scenarios.html`);
  });
}
