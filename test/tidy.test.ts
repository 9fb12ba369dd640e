import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import {
  areaOf,
  castsOf,
  circlesAmong,
  imports,
  root,
  sources,
  textOf,
  tracked,
  usesOf,
} from './support/repository.ts';

/** Rules about the repository itself. A rule that needs an exception names it, with the reason. */

/** This file spells out what it looks for. */
const SELF = 'test/tidy.test.ts';

/** What each area may import beside itself; areas that are not named may import anything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  api: ['core', 'ports', 'contract'],
  ports: ['core', 'contract'],
  app: ['core', 'ports', 'contract'],
  catalog: ['core', 'api', 'ports'],
  kube: ['core', 'api', 'ports'],
  aws: ['core', 'api', 'ports', 'catalog', 'contract'],
  sim: ['core', 'api', 'ports', 'app'],
  preview: ['core', 'api', 'ports', 'app', 'catalog'],
  contract: ['core', 'package.json'],
  prometheus: ['core', 'ports', 'contract'],
  functions: [
    ...['core', 'api', 'ports', 'app', 'catalog', 'kube', 'aws', 'prometheus', 'contract'],
    ...['preview', 'package.json'],
  ],
  cli: [
    ...['core', 'api', 'ports', 'app', 'catalog', 'kube', 'aws', 'sim', 'contract'],
    ...['preview', 'infra', 'package.json'],
  ],
  infra: ['contract', 'package.json'],
  'headlamp-plugin': ['core', 'api'],
};

/** What each folder of `shared/app` may import of the others: use cases do not know one another. */
const APP_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'settings.ts': [],
  recording: [],
  writes: ['settings.ts'],
  'instance-types': [],
  planning: ['instance-types', 'writes', 'settings.ts'],
  nodeclass: ['writes'],
  interrupt: ['writes', 'settings.ts'],
  lifecycle: ['instance-types', 'writes', 'settings.ts'],
  disrupt: ['planning', 'writes', 'settings.ts', 'recording'],
  launch: ['planning', 'writes', 'settings.ts'],
  provision: ['launch', 'planning', 'writes', 'settings.ts', 'recording'],
};

/** `shared/app/disrupt/pass.ts` → `disrupt`; undefined: a file elsewhere. */
function appFolderOf(file: string): string | undefined {
  const [top, area, folder] = file.split('/');
  return top === 'shared' && area === 'app' ? folder : undefined;
}

/** Areas that name the npm packages they may use. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  api: ['zod', 'yaml'],
  ports: [],
  app: [],
  catalog: ['zod'],
  sim: ['zod'],
  preview: [],
  contract: [],
  'headlamp-plugin': ['react', 'react-router-dom', 'zod', '@kinvolk/headlamp-plugin'],
};

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

/** Run only in the command line, which is bundled. */
const DEVELOPMENT = [
  'shared/kube/kubeconfig.ts',
  'cli/dead-letters/queue.ts',
  'cli/page/assets.ts',
];

describe('imports', () => {
  it('there are some to look at', () => {
    expect(imports.length).toBeGreaterThan(500);
  });

  it('point one way', () => {
    const wrong = imports.filter(({ from, to, isOwn }) => {
      const allowed = MAY_IMPORT[areaOf(from)];
      if (!isOwn || allowed === undefined) return false;
      return areaOf(to) !== areaOf(from) && !allowed.includes(areaOf(to));
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('point one way among the use cases', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [folder, other] = [appFolderOf(from), appFolderOf(to)];
      if (folder === undefined || other === undefined || folder === other) return false;
      return !APP_MAY_IMPORT[folder]?.includes(other);
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('that use cases may have are had', () => {
    const had = new Set(
      imports.map(({ from, to }) => `${appFolderOf(from) ?? ''} → ${appFolderOf(to) ?? ''}`),
    );
    const allowed = Object.entries(APP_MAY_IMPORT).flatMap(([folder, others]) =>
      others.map((other) => `${folder} → ${other}`),
    );
    expect(allowed.filter((each) => !had.has(each))).toEqual([]);
  });

  it('lead to files that exist', () => {
    const dead = imports.filter(({ to, isOwn }) => isOwn && !existsSync(join(root, to)));
    expect(dead.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('lead in no circle', () => {
    expect(circlesAmong(Map.groupBy(imports, ({ from }) => from))).toEqual([]);
  });

  it('keep packages out of the inner areas', () => {
    const wrong = imports.filter(({ from, to, isOwn }) => {
      const allowed = PACKAGES[areaOf(from)];
      return !isOwn && allowed !== undefined && !allowed.includes(packageOf(to));
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('take what runs in production from dependencies', () => {
    const outer = ['shared/', 'functions/', 'cli/'];
    const wrong = imports.filter(
      ({ from, to, isOwn }) =>
        !isOwn &&
        !isBuiltin(to) &&
        !DEVELOPMENT.includes(from) &&
        outer.some((folder) => from.startsWith(folder)) &&
        !Object.hasOwn(packageJson.dependencies, packageOf(to)),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});

/** Exports that no file of the product imports, with the reason; Lambda calls handlers. */
const UNIMPORTED: ReadonlyMap<string, string> = new Map([
  ['infra/policies/document.ts permissionsDocument', 'docs/permissions.md is its snapshot'],
  [
    'shared/core/interruption/interruption.ts INTERRUPTION_EVENTS',
    'the rules of EventBridge are compared with it',
  ],
  ['shared/sim/scheduler/view.ts schedulerView', 'the world keeps its view up to date itself'],
]);

const DECLARED = /^export (?:abstract |async )*(?:function\*?|class|const|interface|type) (\w+)/gm;

describe('exports', () => {
  const importers = Map.groupBy(
    imports.filter(({ isOwn }) => isOwn),
    ({ to }) => to,
  );
  const mentions = (file: string, name: string): number =>
    textOf(file).match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;
  const unused = sources
    .filter((file) => /^(shared|functions|cli|infra|headlamp-plugin)\//.test(file))
    .flatMap((file) => {
      const users = (importers.get(file) ?? []).filter(({ from }) => !from.startsWith('test/'));
      return [...textOf(file).matchAll(DECLARED)]
        .map(([, name = '']) => name)
        .filter((name) => name !== 'handler' && mentions(file, name) === 1)
        .filter((name) => !users.some(({ from }) => mentions(from, name) > 0))
        .map((name) => `${file} ${name}`);
    });

  it('are used, by more than tests', () => {
    expect(unused.toSorted()).toEqual([...UNIMPORTED.keys()].toSorted());
  });
});

describe('purity', () => {
  const inner = sources.filter((file) => /^shared\/(core|app|sim|api|ports|catalog)\b/.test(file));
  const core = sources.filter((file) => file.startsWith('shared/core/'));

  it('nothing inside reads the clock, draws random numbers or looks at the environment', () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bcrypto\.|\bprocess\.|\bglobalThis\b/;
    expect(usesOf(impure, inner)).toEqual([]);
  });

  it('the core does no input or output, waits for nothing and says nothing', () => {
    const impure = /\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\bconsole\.|\basync\b|\bawait\b/;
    expect(usesOf(impure, core)).toEqual([]);
  });

  it('the command line writes where control characters are shown', () => {
    const writes = /process\.std(out|err)\.write|\bconsole\.(log|info|warn|error|debug)\(/;
    // The screen switches to itself and back; what is in bin/ says words of its own alone.
    const own = ['cli/terminal.ts', 'cli/top/watch/view.ts'];
    const isOther = (file: string): boolean => own.includes(file) || file.startsWith('cli/bin/');
    const all = sources.filter((file) => file.startsWith('cli/') && !isOther(file));
    expect(all.length).toBeGreaterThan(200);
    expect(usesOf(writes, all)).toEqual([]);
  });

  it('the language stays what Node can run and the compiler can check', () => {
    const banned = /^\s*(export )?(const )?enum \w|: any\b|\bas any\b|@ts-(ignore|expect-error)/;
    expect(
      usesOf(
        banned,
        sources.filter((file) => file !== SELF),
      ),
    ).toEqual([]);
  });
});

/** Where values become what a type says of them; elsewhere the compiler is believed. */
const CASTS: ReadonlyMap<string, string> = new Map([
  ['shared/api/', 'decodes objects'],
  ['shared/app/recording/', 'decodes recordings'],
  ['shared/sim/decode.ts', 'decodes objects, and keeps what it has decoded of each kind'],
  ['shared/core/disruption/failed-moves.ts', 'decodes an annotation'],
  ['shared/core/disruption/undone-moves.ts', 'decodes an annotation'],
  ['cli/convert/', 'decodes manifests of older releases'],
  ['cli/page/', 'decodes what commands print as JSON'],
  ['infra/bundle/schemas.ts', 'decodes the schemas of the SDK'],
  ['shared/contract/settings.ts', 'Object.fromEntries forgets which names there are'],
  ['cli/bound/bound.ts', 'the types of highs describe its CommonJS form'],
  ['cli/doctor/gather.ts', 'Object.fromEntries forgets which names there are'],
  ['shared/preview/copy.ts', 'a proxy of nothing: no member of it is read'],
  ['functions/runtime/forbidden-port.ts', 'a proxy of nothing: no member of it is read'],
  ['functions/runtime/compose.ts', 'a handler of middy may also be called with a callback'],
  ['shared/aws/fleet-request.ts', 'EC2 has instance types that the SDK does not name yet'],
]);

describe('types', () => {
  const product = sources.filter((file) =>
    /^(shared|functions|cli|infra|headlamp-plugin)\//.test(file),
  );
  const placeOf = (file: string): string | undefined =>
    [...CASTS.keys()].find((place) => file.startsWith(place));
  const casts = product.flatMap((file) => castsOf(file).map((line) => ({ file, line })));

  it('are asserted only by decoders', () => {
    const wrong = casts.filter(({ file }) => placeOf(file) === undefined);
    expect(wrong.map(({ file, line }) => `${file}: ${line.trim()}`)).toEqual([]);
  });

  it('are asserted by each that may', () => {
    const used = new Set(casts.map(({ file }) => placeOf(file)));
    expect([...CASTS.keys()].filter((place) => !used.has(place))).toEqual([]);
  });
});

/** Core files whose tests have another name: by file or folder, where these are. */
const TESTED_IN: Readonly<Record<string, string>> = {
  // Steps of one plan: what one of them decides shows in the plan.
  'scheduling/': 'test/unit/scheduling/constraints.test.ts',
  'comparison/': 'test/unit/comparison.test.ts',
  'launch/image-families/': 'test/unit/launch/image-families/families.test.ts',
  'explain/reasons/': 'test/unit/explain/reason.test.ts',
  'rollouts/': 'test/property/expected-pods.test.ts',
};

describe('tests', () => {
  const CORE = 'shared/core/';
  const untested = sources
    .filter((file) => file.startsWith(CORE) && /^export (function|class) /m.test(textOf(file)))
    .map((file) => file.slice(CORE.length))
    .filter((file) => !tracked.includes(`test/unit/${file.replace(/\.ts$/, '.test.ts')}`));
  const placeOf = (file: string): string | undefined =>
    Object.keys(TESTED_IN).find((place) => file.startsWith(place));

  it('of a core file are in test/unit, by its path', () => {
    expect(untested.filter((file) => placeOf(file) === undefined)).toEqual([]);
  });

  it('that have another name are there, and are needed', () => {
    expect(Object.values(TESTED_IN).filter((file) => !tracked.includes(file))).toEqual([]);
    const used = new Set(untested.map(placeOf));
    expect(Object.keys(TESTED_IN).filter((place) => !used.has(place))).toEqual([]);
  });
});

const LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const LINE_LENGTH_MAX = 100;

/** Longer on purpose. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'test/builders/api-objects.ts': 'one table of valid and invalid objects',
};

const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'test/contract/kube-objects.ts': 'whole objects, every field set',
};

/** A line that opens a function in code as Biome lays it out. */
const OPENS_FUNCTION =
  /(\bfunction\b.*|=> |^ *(?!if|for|while|switch|catch|return|else|do\b)(static |async |private |override |get |set )*[#\w]+\(.*\).*)\{$/;
/** Suites are as long as what they list. */
const IS_SUITE = /^\s+(it|test|expectations)(\.\w+)*\(/m;

/** The longest functions: a function ends where its first line's indentation comes back. */
function longFunctions(file: string): readonly string[] {
  const lines = textOf(file).split('\n');
  return lines.flatMap((line, start) => {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const isHead = OPENS_FUNCTION.test(line) || /^ *\): .*\{$|^ *\) \{$/.test(line);
    if (!isHead || LONG_FUNCTIONS[file] !== undefined) return [];
    const end = lines.findIndex(
      (each, at) => at > start && each.startsWith(`${' '.repeat(indent)}}`),
    );
    const length = end - start + 1;
    const isSuite = IS_SUITE.test(lines.slice(start, end).join('\n'));
    return length > FUNCTION_LINES_MAX && !isSuite ? [`${file}:${start + 1}: ${length} lines`] : [];
  });
}

describe('sizes', () => {
  it(`files have at most ${LINES_MAX} lines`, () => {
    const long = sources
      .map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }))
      .filter(({ file, lines }) => lines > LINES_MAX && LONG_FILES[file] === undefined);
    expect(long).toEqual([]);
  });

  it(`functions have at most ${FUNCTION_LINES_MAX} lines`, () => {
    expect(sources.flatMap(longFunctions)).toEqual([]);
  });

  it(`lines have at most ${LINE_LENGTH_MAX} characters, but for long texts`, () => {
    const long = sources.flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, at) =>
          line.length > LINE_LENGTH_MAX && !/['"`/]/.test(line) ? [`${file}:${at + 1}`] : [],
        ),
    );
    expect(long).toEqual([]);
  });
});

describe('texts', () => {
  it('nobody is told to run the package of that name on npm, which is a stranger’s', () => {
    const text = tracked.filter(
      (file) => /\.(md|ts|mjs|json|yaml|yml)$/.test(file) && file !== SELF,
    );
    expect(text.filter((file) => /\bnpx joiner\b/.test(textOf(file)))).toEqual([]);
  });

  const readable = tracked.filter((file) => !/\.(gz|png)$/.test(file) && file !== SELF);

  it('leave nothing for later', () => {
    const later = /\b(TODO|FIXME|XXX)\b/;
    expect(readable.filter((file) => later.test(textOf(file)))).toEqual([]);
  });

  it('name no path of a machine and no host of a registry', () => {
    const local =
      /(^|[\s'"`(=])\/(work|root|home\/\w+|Users\/\w+)\/|registry\.(npmjs|yarnpkg)|\bnpmjs\.(org|com)|artifactory/m;
    expect(readable.filter((file) => local.test(textOf(file)))).toEqual([]);
  });

  it('names say what things are', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|manager|misc)([-./]|$)/;
    expect(tracked.filter((file) => vague.test(file))).toEqual([]);
  });
});
