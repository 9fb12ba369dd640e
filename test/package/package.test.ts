import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { buildPackage } from '../../scripts/package/build.ts';
import { type Packed, pack } from '../../scripts/package/pack.ts';
import { krewManifest } from '../../scripts/release-krew.ts';
import { FUNCTION_NAMES, OPTIONAL_FUNCTIONS } from '../../shared/contract.ts';
import { joiner } from '../cli/run.ts';
import { synthesise } from '../infra/synthesis.ts';
import { addPeers, compile, install, output, run, write } from './installation.ts';
import { asNewUser } from './new-user.ts';
import { nodesOnPath } from './nodes.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** In bytes: what people download, and what it takes on a disk. */
const BUDGET = { size: 7_500_000, unpackedSize: 33_500_000, files: 480 };

let folder = '';
let packed: Packed;
let app = '';
let home = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'joiner-package-'));
  await buildPackage(join(folder, 'package'));
  packed = pack(join(folder, 'package'), folder);
  app = join(folder, 'app');
  install(join(folder, packed.filename), app);
  home = join(app, 'node_modules', 'eks-joiner');
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the archive', () => {
  it('is within its budget', () => {
    expect(packed.size).toBeLessThanOrEqual(BUDGET.size);
    expect(packed.unpackedSize).toBeLessThanOrEqual(BUDGET.unpackedSize);
    expect(packed.entryCount).toBeLessThanOrEqual(BUDGET.files);
  });

  it('holds what is built, and neither sources, tests nor source maps', () => {
    const kinds = [
      /^(LICENSE|README\.md|CHANGELOG\.md|THIRD-PARTY-NOTICES\.txt|bom\.json|package\.json)$/,
      /^cli\/bin\/(joiner|older-node)\.mjs$/,
      /^cli\/bundle\/[\w-]+\.(mjs|wasm)$/,
      /^functions\/\w+\/(index\.mjs|manifests\.json|parts\/[\w-]+\.mjs)$/,
      /^infra\/(crds|rbac|flow-control)\/[\w.-]+\.yaml$/,
      /^infra\/(index|app|template)\.js$/,
      /^infra\/terraform\/\w+\.tf$/,
      /^docs\/\w+-role\.yaml$/,
      /^(examples|bench\/compare)\/[\w./-]+\.(yaml|json|md)$/,
      /^types\/(infra|shared)\/[\w/-]+\.d\.ts$/,
    ];
    const strange = packed.files.filter(({ path }) => !kinds.some((kind) => kind.test(path)));
    expect(strange).toEqual([]);
  });

  it('names no path of the machine that built it, and no source map', () => {
    const banned = [ROOT, `${homedir()}/`, folder, 'sourceMappingURL'].filter(
      (text) => text !== '//',
    );
    const found = packed.files.flatMap(({ path }) => {
      const text = readFileSync(join(home, path), 'latin1');
      return banned.filter((each) => text.includes(each)).map((each) => `${path}: ${each}`);
    });
    expect(found).toEqual([]);
  });

  it('has no dependencies and nothing that runs at its installation', () => {
    const stated = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    expect(Object.keys(stated)).not.toContain('scripts');
    expect(Object.keys(stated)).not.toContain('dependencies');
    expect(Object.keys(stated.peerDependencies)).toEqual(['aws-cdk-lib', 'constructs']);
    expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'eks-joiner',
    ]);
  });

  it('names the licence of every package whose code it holds', () => {
    const notices = readFileSync(join(home, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundle = join(home, 'cli', 'bundle');
    const held = readdirSync(bundle)
      .filter((name) => name.endsWith('.mjs'))
      .flatMap((name) => [
        ...readFileSync(join(bundle, name), 'utf8').matchAll(
          /^\/\/ node_modules\/(?:.*node_modules\/)?((?:@[\w.-]+\/)?[\w.-]+)\//gm,
        ),
      ])
      .map(([, name = '']) => name);
    const names = [...new Set(held), 'highs', '@middy/core'].sort();
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !notices.includes(`- ${name} `))).toEqual([]);
  });

  it('lists each of these packages in its bill of materials', () => {
    const notices = readFileSync(join(home, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const sections = notices.split(`\n${'-'.repeat(80)}\n\n`).slice(1);
    const noticed = sections.flatMap((section) => {
      const [, licence] = /^Licence: (.*)$/m.exec(section) ?? [];
      const [list = ''] = section.split('\n\n');
      return [...list.matchAll(/^- (.*) (.*)$/gm)].map(
        ([, name = '', version]) => `pkg:npm/${name.replace('@', '%40')}@${version} ${licence}`,
      );
    });
    const bill = JSON.parse(readFileSync(join(home, 'bom.json'), 'utf8'));
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const listed = bill.components.map(
      ({ purl, licenses }: { purl: string; licenses: [{ license: { id: string } }] }) =>
        `${purl} ${licenses[0].license.id}`,
    );
    expect(listed.toSorted()).toEqual(noticed.toSorted());
    expect(listed.length).toBeGreaterThan(20);
  });
});

describe('npm pack in the checkout', () => {
  it('is refused with what makes the package', () => {
    const { status, stderr } = run(ROOT, ['npm', 'pack', '--dry-run', '--loglevel=error']);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('npm run package'),
    });
  });
});

describe('the plugin of kubectl', () => {
  it('runs from where Krew puts it, by its link', () => {
    const archive = readFileSync(join(folder, packed.filename));
    const { spec } = parse(krewManifest('0.1.0', 'https://github.com/example/joiner', archive));
    const [platform] = spec.platforms;
    expect(spec).toMatchObject({
      version: 'v0.1.0',
      homepage: 'https://github.com/example/joiner',
    });
    expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
    expect(platform.uri).toMatch(/\/releases\/download\/v0\.1\.0\/eks-joiner-0\.1\.0\.tgz$/);
    expect(platform.sha256).toBe(createHash('sha256').update(archive).digest('hex'));
    const store = join(folder, 'krew');
    mkdirSync(store);
    run(store, ['tar', '-xzf', join(folder, packed.filename)]);
    const [{ from, to }] = platform.files;
    expect([from, to]).toEqual(['package/*', '.']);
    symlinkSync(join(store, 'package', platform.bin), join(store, 'kubectl-joiner'));
    expect(output(store, [join(store, 'kubectl-joiner'), '--version'])).toBe('0.1.0\n');
  });
});

describe.each(nodesOnPath())('the command under Node $version', (node) => {
  const example = join(ROOT, 'examples', '07-spread-and-spot');

  it.each(Object.keys(packageJson.bin))('%s says its version', (name) => {
    expect(output(app, ['npx', '--no-install', name, '--version'], node)).toBe('0.1.0\n');
  });

  it('simulates an example as the checkout does', async () => {
    const printed = output(app, ['npx', '--no-install', 'eks-joiner', 'simulate', example], node);
    expect(printed).toBe((await joiner('simulate', example)).stdout);
  });

  it('plans a case, with the bound that WebAssembly finds', () => {
    const file = join(ROOT, 'examples', '09-solve', 'case.json');
    const printed = output(app, ['npx', '--no-install', 'joiner', 'solve', '--bound', file], node);
    expect(JSON.parse(printed)).toMatchObject({ bound: { gapPercent: expect.any(Number) } });
  });

  it('loads what every command runs', () => {
    const bundle = join(home, 'cli', 'bundle');
    const files = readdirSync(bundle).filter((name) => name.endsWith('.mjs'));
    write(app, {
      'load.mjs': [
        "import './node_modules/eks-joiner/cli/bin/older-node.mjs';",
        ...files.map((name) => `import './node_modules/eks-joiner/cli/bundle/${name}';`),
      ].join('\n'),
    });
    expect(run(app, ['node', 'load.mjs'], node)).toMatchObject({ status: 0, stdout: '' });
  });
});

/** Ten lines of an app. */
const APP = `import { App, Stack } from 'aws-cdk-lib';
import { Joiner, JoinerStack, type JoinerProps } from 'eks-joiner';

const app = new App({ outdir: 'cdk.out', analyticsReporting: false });
const stack = new Stack(app, 'nodes');
const props: JoinerProps = { cluster: 'demo', reaction: 'watch' };
const joiner = new Joiner(stack, 'Joiner', props);
joiner.metricPendingPods().createAlarm(stack, 'Pending', { threshold: 50, evaluationPeriods: 3 });
new JoinerStack(app, 'joiner-demo', { joiner: props });
app.synth();
`;

const FORMS = [
  {
    form: 'CommonJS, as cdk init writes it',
    type: 'commonjs',
    options: { module: 'nodenext', moduleResolution: 'nodenext' },
  },
  {
    form: 'ES modules, node16',
    type: 'module',
    options: { module: 'node16', moduleResolution: 'node16' },
  },
  {
    form: 'ES modules for a bundler',
    type: 'module',
    options: { module: 'esnext', moduleResolution: 'bundler' },
  },
] as const;

describe('an app of the CDK', () => {
  /** The checkout's stack with the code of the package. */
  let expected: object;
  beforeAll(() => {
    addPeers(app);
    const code = (name: string) => lambda.Code.fromAsset(join(home, 'functions', name));
    const { template } = synthesise({ cluster: 'demo', reaction: 'watch', code });
    expected = withoutBootstrap(template.toJSON());
  });

  describe.each(FORMS)('of $form', ({ type, options }) => {
    let place = '';
    beforeAll(() => {
      place = join(app, `${type}-${options.module}`);
      write(place, { 'package.json': { type }, 'app.ts': APP });
      compile(place, options);
    }, 240_000);

    it.each(nodesOnPath())(
      'synthesises under Node $version what a checkout does',
      (node) => {
        rmSync(join(place, 'cdk.out'), { recursive: true, force: true });
        output(place, ['node', 'app.js'], node);
        const template = (name: string): unknown =>
          JSON.parse(readFileSync(join(place, 'cdk.out', `${name}.template.json`), 'utf8'));
        expect(withoutBootstrap(template('joiner-demo'))).toEqual(expected);
        expect(template('nodes')).toHaveProperty('Resources');
      },
      240_000,
    );
  });

  it('gets the code of all functions', () => {
    const assets = readdirSync(join(app, 'commonjs-nodenext', 'cdk.out')).filter((name) =>
      name.startsWith('asset.'),
    );
    const folders = assets.filter((name) =>
      statSync(join(app, 'commonjs-nodenext', 'cdk.out', name)).isDirectory(),
    );
    expect(folders).toHaveLength(FUNCTION_NAMES.length - OPTIONAL_FUNCTIONS.size);
  });

  it('gets an error of the types where a prop is wrong', () => {
    const place = join(app, 'wrong');
    const wrong = APP.replace("reaction: 'watch'", "reaction: 'now'");
    write(place, { 'package.json': { type: 'commonjs' }, 'app.ts': wrong });
    expect(() => compile(place, { module: 'node16', moduleResolution: 'node16' })).toThrow(
      /TS2322/,
    );
  });
});

describe('a new user', () => asNewUser(() => app));

/** What the CDK adds to every stack for its command line. */
function withoutBootstrap(template: unknown): object {
  const { Parameters, Rules, ...rest } = Object(template) as Record<string, unknown>;
  return rest;
}
