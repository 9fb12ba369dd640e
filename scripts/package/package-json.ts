import packageJson from '../../package.json' with { type: 'json' };

/** Where the parts of the package are, relative to it. */
export const PLACES = {
  construct: 'infra/index.js',
  /** What `cdk.json` of a folder without an app of its own names. */
  app: 'infra/app.js',
  /** What `joiner template` runs, with what it needs of the CDK. */
  template: 'infra/template.js',
  types: 'types/infra/index.d.ts',
  command: 'cli/bin/joiner.mjs',
  notices: 'THIRD-PARTY-NOTICES.txt',
  bill: 'bom.json',
} as const;

/** Before 2.269 a reason to let a rule go could not be given by the rule's whole name. */
const CDK = '^2.269.0';

/**
 * The package's own package.json. It has no dependencies: what runs is bundled. The CDK is the app's,
 * and who wants the command alone has none: npm does not install optional peers.
 */
export function publishedPackageJson(): object {
  const { name, version, description, license, homepage, repository, bugs, bin } = packageJson;
  return {
    name,
    version,
    description,
    license,
    homepage,
    repository,
    bugs,
    keywords: ['aws', 'cdk', 'eks', 'karpenter', 'kubernetes', 'lambda'],
    // `process.getBuiltinModule`
    engines: { node: '>=20.16' },
    bin: Object.fromEntries(Object.keys(bin).map((command) => [command, PLACES.command])),
    main: `./${PLACES.construct}`,
    types: `./${PLACES.types}`,
    exports: {
      '.': { types: `./${PLACES.types}`, default: `./${PLACES.construct}` },
      './package.json': './package.json',
    },
    peerDependencies: { 'aws-cdk-lib': CDK, constructs: '^10.5.0' },
    peerDependenciesMeta: { 'aws-cdk-lib': { optional: true }, constructs: { optional: true } },
  };
}
