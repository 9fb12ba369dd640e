/**
 * `joiner template` of the package: what of the CDK makes the stack is bundled, so that the command
 * needs nothing beside it. The whole of the library would be 40 MB; services of which the stack has
 * nothing are left out, and what asks for one of them fails by name.
 */
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { PLACES } from './package-json.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Folders of aws-cdk-lib that a synthesis of the stack runs. `test/package` holds every variant to it. */
const KEPT: ReadonlySet<string> = new Set([
  'aws-cloudwatch',
  'aws-cloudwatch-actions',
  'aws-ec2',
  'aws-eks',
  'aws-events',
  'aws-events-targets',
  'aws-iam',
  'aws-kms',
  'aws-lambda',
  'aws-logs',
  'aws-logs-destinations',
  'aws-s3',
  'aws-s3-assets',
  'aws-sns',
  'aws-sqs',
  'custom-resources',
]);

/** Folders of the library that are of one service or of another tool; the rest is its core. */
const OPTIONAL =
  /^(aws-|alexa-ask|assertions|assets|cloudformation-include|custom-resources|interfaces|lambda-layer|pipelines|triggers)/;

/** Checks templates by rules that `writeRelease` turns off. */
const RULES = '@aws/cloudformation-validate';

/** Modules of services that are not kept throw when they are run. */
function onlyKept(): Plugin {
  return {
    name: 'only-kept',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${RULES}$`) }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /[\\/]node_modules[\\/]aws-cdk-lib[\\/][^\\/]+[\\/]/ }, ({ path }) => {
        const [, folder = ''] = /[\\/]aws-cdk-lib[\\/]([^\\/]+)[\\/]/.exec(path) ?? [];
        if (!OPTIONAL.test(folder) || KEPT.has(folder)) return undefined;
        const message = JSON.stringify(`joiner template has no ${folder} of the CDK`);
        return { contents: `throw new Error(${message});`, loader: 'js' };
      });
    },
  };
}

/** Writes `infra/template.js` into the package; `plugins` place what lies beside it. */
export async function buildTemplate(
  into: string,
  target: string,
  plugins: readonly Plugin[],
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['infra/template.ts'],
    outfile: join(into, PLACES.template),
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target,
    define: { 'import.meta.dirname': '__dirname' },
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [...plugins, onlyKept()],
  });
  return metafile;
}
