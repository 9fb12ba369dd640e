import { readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import type { FunctionName } from '../../shared/contract.ts';
import { prunedModule, wordsOf } from './schemas.ts';
import { callsBelow, zodSchemas } from './zod-methods.ts';

/** A module of a package that no handler runs, and what stands in its place. */
interface Part {
  readonly filter: RegExp;
  readonly contents: (path: string) => string;
}

/** What a part says that is run after all: the tests of the bundles would see it. */
const REFUSAL = 'this part of a package is not in the bundle';

/** The same exports, each of which refuses to be called or made. */
function refused(path: string): string {
  const body = `{ throw new Error(${JSON.stringify(REFUSAL)}); }`;
  return exportsOf(path)
    .map((name) => `export function ${name}() ${body}`)
    .join('\n');
}

/** The same exports, each of which makes a plugin of the SDK that does nothing. */
function inert(path: string): string {
  return exportsOf(path)
    .map((name) => `export const ${name} = () => ({ applyToStack: () => undefined });`)
    .join('\n');
}

/** The same exports, each of which does nothing. */
function idle(path: string): string {
  return exportsOf(path)
    .map((name) => `export const ${name} = () => undefined;`)
    .join('\n');
}

/** The module without this text, which it has to have. */
function without(path: string, text: string): string {
  const source = readFileSync(path, 'utf8');
  if (!source.includes(text)) throw new Error(`${path} does not say: ${text}`);
  return source.replace(text, '');
}

function exportsOf(path: string): readonly string[] {
  const declared = /^export (?:async )?(?:const|let|var|function\*?|class) (\w+)/gm;
  const names = [...readFileSync(path, 'utf8').matchAll(declared)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`${path} exports nothing that can be left out`);
  return names;
}

/** Paths within packages, whatever the system's separator; `file` is a regular expression. */
function inside(folder: string, file: string): RegExp {
  return new RegExp(`[\\\\/]${`${folder}/${file}`.replaceAll('/', '[\\\\/]')}$`);
}

const SMITHY = '@smithy/core/dist-es/submodules';
const S3 = '@aws-sdk/middleware-sdk-s3/dist-es/submodules/s3';
const CLIENT = '@aws-sdk/client-[\\w-]+';
const require = createRequire(import.meta.url);

/** Functions that send bodies in XML to S3; what is asked of EKS and of S3 else is in the path. */
const XML_WRITERS: ReadonlySet<FunctionName> = new Set(['install']);

/** Those who write bodies and headers are made with each client, needed or not. */
function wordless(path: string): string {
  const body = `{ throw new Error(${JSON.stringify(REFUSAL)}); }`;
  const methods = `setSerdeContext() {} write() ${body} flush() ${body} format() ${body}`;
  return exportsOf(path)
    .map((name) => `export class ${name} { ${methods} }`)
    .join('\n');
}

function bodies(root: string, name: FunctionName): readonly Part[] {
  const plain = JSON.stringify(join(root, 'infra/bundle/plain-json.ts'));
  const json: Part = {
    filter: inside(`${SMITHY}/protocols/json`, '.*/JsonShapeSerializer2\\.js'),
    contents: () => `export { PlainJson as JsonShapeSerializer2 } from ${plain};`,
  };
  if (XML_WRITERS.has(name)) return [json];
  return [
    json,
    {
      filter: inside('@aws-sdk/core/dist-es/submodules/protocols/xml', 'XmlShapeSerializer\\.js'),
      contents: wordless,
    },
    // Of what is asked of S3 only lists of names in XML have to come with a checksum.
    {
      filter: inside('flexible-checksums', 'getFlexibleChecksumsPlugin\\.js'),
      contents: inert,
    },
  ];
}

/** What our sources name, which is read when a part first asks. */
interface Named {
  readonly words: () => ReadonlySet<string>;
  readonly calls: () => ReadonlySet<string>;
}

function parts(root: string, { words, calls }: Named): readonly Part[] {
  return [
    // Operations and members that our sources do not name.
    {
      filter: inside(CLIENT, 'dist-es/schemas/schemas_0\\.js'),
      contents: (path) => prunedModule(path, words()),
    },
    // Of a client's package.json only the version is read, for the user agent.
    {
      filter: inside(CLIENT, 'package\\.json'),
      contents: (path) => `export default { version: ${JSON.stringify(require(path).version)} };`,
    },
    // Regions are told by their partition's pattern; nobody reads what they are called.
    {
      filter: inside('util-endpoints/lib/aws', 'partitions\\.js'),
      contents: (path) => readFileSync(path, 'utf8').replaceAll(/"description": "[^"]*",?/g, ''),
    },
    // Hashes in JavaScript are for runtimes without OpenSSL.
    { filter: inside(SMITHY, 'checksum/\\w+/(Sha256|Md5|Crc32)Js\\.js'), contents: refused },
    {
      filter: inside('@aws-sdk/checksums/dist-es/submodules', '.*/(Sha1|Crc64Nvme|Crc32c)Js\\.js'),
      contents: refused,
    },
    // Headers of events are signed in streams of them.
    {
      filter: inside('@smithy/signature-v4/dist-es', 'HeaderFormatter\\.js'),
      contents: wordless,
    },
    // Streams of browsers, and bodies that are sent piece by piece: all of ours are whole.
    {
      filter: inside(
        `${SMITHY}/serde/util-stream`,
        '(\\w[\\w-]*\\.browser|createBufferedReadable|getAwsChunkedEncodingStream)\\.js',
      ),
      contents: refused,
    },
    // Answers are checked where S3 asks for it, which it does where checksums were asked for.
    {
      filter: inside(`${SMITHY}/serde/util-stream/checksum`, '\\w+(\\.browser)?\\.js'),
      contents: refused,
    },
    {
      filter: inside('util-user-agent-browser', 'createUserAgentStringParsingProvider\\.js'),
      contents: refused,
    },
    // The region is in the environment, and there are no files of settings.
    {
      filter: inside(`${SMITHY}/config`, '.*/getInstanceMetadataRegion\\.js'),
      contents: refused,
    },
    {
      filter: inside(`${SMITHY}/config`, 'shared-ini-file-loader/loadSharedConfigFiles\\.js'),
      contents: () => `
        export { CONFIG_PREFIX_SEPARATOR } from './constants';
        export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
    },
    ...s3Parts(root),
    ...plainParts(calls),
  ];
}

/** Of packages that are not the SDK's. */
function plainParts(calls: Named['calls']): readonly Part[] {
  return [
    // Schemas of JSON are for the CRDs, which are made before.
    {
      filter: inside('zod/v4/core', '(json-schema-processors|to-json-schema)\\.js'),
      contents: idle,
    },
    // Checks, formats and wrappers that no schema of ours has.
    {
      filter: inside('zod/v4/classic', 'schemas\\.js'),
      contents: (path) => zodSchemas(path, calls(), REFUSAL),
    },
    // The same class is global, and loaded when it is first named: answers that are streamed name it.
    {
      filter: inside('@middy/core', 'index\\.js'),
      contents: (path) => without(path, 'import { ReadableStream } from "node:stream/web";\n'),
    },
  ];
}

/** Joiner's bucket is a plain one, in the region of the cluster. */
function s3Parts(root: string): readonly Part[] {
  const endpoint = JSON.stringify(join(root, 'infra/bundle/s3-endpoint.ts'));
  return [
    // Neither directory buckets, nor other regions, nor keys that are sent with each request.
    {
      filter: inside(
        S3,
        'middleware-(s3-express/functions|region-redirect|ssec)/' +
          '(s3Express\\w+|region-redirect-middleware|middleware-ssec)\\.js',
      ),
      contents: inert,
    },
    {
      filter: inside(S3, 'middleware-s3-express/classes/S3ExpressIdentityProviderImpl\\.js'),
      contents: () => 'export class S3ExpressIdentityProviderImpl {}',
    },
    {
      filter: inside('@aws-sdk/client-s3/dist-es/endpoint', 'endpointResolver\\.js'),
      contents: () => `export { s3Endpoint as defaultEndpointResolver } from ${endpoint};`,
    },
  ];
}

/** Packages by the names under which they are imported, and what stands for them. */
const ALIASES: Readonly<Record<string, string>> = {
  // Credentials from the environment, where Lambda puts them: no SSO, files or instance metadata.
  '@aws-sdk/credential-provider-node': `
    import { fromEnv } from '@aws-sdk/credential-provider-env';
    export const defaultProvider = () => fromEnv();`,
  // No operation that we use streams events.
  '@smithy/core/event-streams': `
    export const resolveEventStreamSerdeConfig = (config) => config;
    export const eventStreamSerdeProvider = () => undefined;
    export function EventStreamSerde() { throw new Error(${JSON.stringify(REFUSAL)}); }`,
  // Calls are repeated in one place, shared/aws/calls.ts: every client makes one attempt.
  '@smithy/core/retry': `
    // Others are put before and after it, so that it has to be there.
    const place = { name: 'retryMiddleware', step: 'finalizeRequest', priority: 'high' };
    const plugin = { applyToStack: (stack) => stack.add((next) => (args) => next(args), place) };
    export const getRetryPlugin = () => plugin;
    export const resolveRetryConfig = (config) => config;
    export const DEFAULT_RETRY_MODE = 'standard';
    export const RETRY_MODES = { STANDARD: 'standard', ADAPTIVE: 'adaptive' };
    const options = {
      environmentVariableSelector: () => undefined,
      configFileSelector: () => undefined,
      default: undefined,
    };
    export const NODE_MAX_ATTEMPT_CONFIG_OPTIONS = { ...options, default: 1 };
    export const NODE_RETRY_MODE_CONFIG_OPTIONS = options;`,
  // Signatures for many regions at once are for access points and global endpoints.
  '@aws-sdk/signature-v4-multi-region': `
    import { SignatureV4 } from '@smithy/signature-v4';
    export class SignatureV4MultiRegion extends SignatureV4 {}
    export class SignatureV4SignWithCredentials extends SignatureV4 {}`,
};

/**
 * Node's own modules, asked for as the program does and not by an import: that reads every export
 * at once, and those of `node:http` load all of fetch with them.
 */
export function plainBuiltins(): Plugin {
  const names = builtinModules.map((name) => name.replace(/^node:/, '')).join('|');
  return {
    name: 'plain-builtins',
    setup: (setup) => {
      const filter = new RegExp(`^(node:)?(${names})$`);
      setup.onResolve({ filter }, ({ path }) => ({
        path: path.startsWith('node:') ? path : `node:${path}`,
        namespace: 'builtin',
        sideEffects: false,
      }));
      setup.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
        loader: 'js',
      }));
    },
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Leaves out of packages what a function in Lambda never runs. */
export function onlyWhatRuns(root: string, name: FunctionName): Plugin {
  const named: Named = {
    words: once(() => wordsOf([join(root, 'functions'), join(root, 'shared/aws')])),
    calls: once(() => callsBelow([join(root, 'functions'), join(root, 'shared')])),
  };
  return {
    name: 'only-what-runs',
    setup: (setup) => {
      const names = new RegExp(`^(${Object.keys(ALIASES).join('|')})$`);
      setup.onResolve({ filter: names }, ({ path }) => ({
        path,
        namespace: 'part',
        sideEffects: false,
      }));
      setup.onLoad({ filter: /./, namespace: 'part' }, ({ path }) => ({
        contents: ALIASES[path] ?? '',
        resolveDir: root,
        loader: 'js',
      }));
      for (const { filter, contents } of [...parts(root, named), ...bodies(root, name)]) {
        setup.onLoad({ filter }, ({ path }) => ({ contents: contents(path), loader: 'js' }));
      }
    },
  };
}
