import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { App, DefaultStackSynthesizer } from 'aws-cdk-lib';
import type { JoinerProps } from './constructs/joiner-props.ts';
import { JoinerStack } from './joiner-stack.ts';
import { zip } from './zip.ts';

export interface ReleaseOptions {
  readonly joiner: JoinerProps;
  /** From which CloudFormation takes the functions' code; in the region of the stack. */
  readonly bucket: string;
  /** Below which the archives are, e.g. `joiner/0.1.0/`. */
  readonly prefix: string;
  /** Gets `template.json`, and the archives under the prefix. */
  readonly folder: string;
}

/** One file of a release, relative to its folder. */
export interface ReleaseFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * The stack without the CDK command line: a template whose code is in one bucket below one prefix,
 * for CloudFormation or Terraform's aws_cloudformation_stack. It needs no bootstrapped account.
 */
export function writeRelease(options: ReleaseOptions): readonly ReleaseFile[] {
  const { joiner, bucket, prefix, folder } = options;
  const app = new App({
    analyticsReporting: false,
    treeMetadata: false,
    // Its rules are files of the CDK, which the package does not have. A deployment of the checkout
    // has the same template checked.
    builtinCloudFormationValidation: false,
  });
  // Of a wider type: the library is not compiled with exact optional properties, its class is none
  // of its interface's kind here.
  const placed: object = {
    synthesizer: new DefaultStackSynthesizer({
      fileAssetsBucketName: bucket,
      bucketPrefix: prefix,
      generateBootstrapVersionRule: false,
    }),
  };
  const { region } = joiner;
  const env = region === undefined ? {} : { env: { region } };
  const stack = new JoinerStack(app, 'joiner', { joiner, ...env, ...placed });
  const assembly = app.synth();
  empty(folder);
  const written: ReleaseFile[] = [];
  const write = (path: string, data: Buffer): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), data);
    written.push({ path, bytes: data.length });
  };
  const { template } = assembly.getStackByName(stack.stackName);
  write('template.json', Buffer.from(`${JSON.stringify(template, undefined, 2)}\n`));
  for (const [hash, source] of archives(
    join(assembly.directory, `${stack.artifactId}.assets.json`),
  )) {
    write(`${prefix}${hash}.zip`, zip(filesIn(join(assembly.directory, source))));
  }
  return written;
}

/** What an earlier release left would be copied with this one; nothing else is taken away. */
function empty(folder: string): void {
  if (!existsSync(folder)) return;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
    entry,
    path: join(entry.parentPath, entry.name),
  }));
  const own = entries
    .filter(({ entry, path }) => entry.isFile() && isOfRelease(folder, path))
    .map(({ path }) => path);
  // Folders are a release's where a file of one is in them; links are never.
  const strange = entries.find(({ entry, path }) =>
    entry.isDirectory()
      ? !own.some((each) => each.startsWith(`${path}${sep}`))
      : !own.includes(path),
  );
  if (strange !== undefined) {
    throw new Error(`${folder} holds ${strange.path}, which is of no release: name another folder`);
  }
  // The folder itself stays: it may be a link.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

function isOfRelease(folder: string, path: string): boolean {
  return path === join(folder, 'template.json') || isArchive(path);
}

function isArchive(path: string): boolean {
  return /[\\/][0-9a-f]{64}\.zip$/.test(path);
}

/** Folders to be archived, by their hash; the template itself is an asset too, but no folder. */
function archives(manifest: string): ReadonlyMap<string, string> {
  const { files }: { files: Record<string, { source: { path: string; packaging: string } }> } =
    JSON.parse(readFileSync(manifest, 'utf8'));
  return new Map(
    Object.entries(files)
      .filter(([, { source }]) => source.packaging === 'zip')
      .map(([hash, { source }]) => [hash, source.path]),
  );
}

function filesIn(folder: string): readonly { readonly name: string; readonly data: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { name: relative(folder, path).replaceAll('\\', '/'), data: readFileSync(path) };
    });
}
