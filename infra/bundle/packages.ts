import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { prunedModule, wordsOf } from './schemas.ts';

/** Schemas of a client of the AWS SDK, which the client's operations are read from. */
const SCHEMAS = /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;

/** How zod writes JSON schemas: CRDs are made of them, before a bundle is. */
const JSON_SCHEMAS = /[\\/]zod[\\/]v4[\\/]core[\\/](json-schema-processors|to-json-schema)\.js$/;

/** What a client of the AWS SDK knows of itself: its version, which it puts in the user agent. */
const CLIENT_PACKAGES = /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/;

/** Packages that no function uses as they are, and what is bundled in their place. */
const ALIASES: Readonly<Record<string, string>> = {
  // Credentials from the environment, where Lambda puts them: no SSO, files or instance metadata.
  '@aws-sdk/credential-provider-node': `
    import { fromEnv } from '@aws-sdk/credential-provider-env';
    export const defaultProvider = () => fromEnv();`,
  // No operation that we use streams events.
  '@smithy/core/event-streams': `
    export const resolveEventStreamSerdeConfig = (config) => config;
    export const eventStreamSerdeProvider = () => undefined;
    export function EventStreamSerde() { throw new Error('event streams are not in the bundle'); }`,
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

/** Schemas without the operations and members that our sources do not name. */
export function prunedSchemas(root: string): Plugin {
  let words: ReadonlySet<string> | undefined;
  return {
    name: 'pruned-schemas',
    setup: (setup) => {
      setup.onLoad({ filter: SCHEMAS }, ({ path }) => {
        words ??= wordsOf([join(root, 'functions'), join(root, 'shared/aws')]);
        return { contents: prunedModule(path, words), loader: 'js' };
      });
    },
  };
}

export function aliasedPackages(root: string): Plugin {
  return {
    name: 'aliased-packages',
    setup: (setup) => {
      const names = new RegExp(`^(${Object.keys(ALIASES).join('|')})$`);
      setup.onResolve({ filter: names }, ({ path }) => ({
        path,
        namespace: 'alias',
        sideEffects: false,
      }));
      setup.onLoad({ filter: /./, namespace: 'alias' }, ({ path }) => ({
        contents: ALIASES[path] ?? '',
        resolveDir: root,
        loader: 'js',
      }));
    },
  };
}

/** Of the `package.json` of each client only the version. */
export function clientVersions(): Plugin {
  return {
    name: 'client-versions',
    setup: (setup) => {
      setup.onLoad({ filter: CLIENT_PACKAGES }, ({ path }) => {
        const { version } = JSON.parse(readFileSync(path, 'utf8'));
        return { contents: JSON.stringify({ version }), loader: 'json' };
      });
    },
  };
}

/** zod without its JSON schemas, each function of which does nothing. */
export function withoutJsonSchemas(): Plugin {
  const exported = /^export (?:async )?(?:const|let|var|function\*?|class) (\w+)/gm;
  return {
    name: 'without-json-schemas',
    setup: (setup) => {
      setup.onLoad({ filter: JSON_SCHEMAS }, ({ path }) => {
        const names = [...readFileSync(path, 'utf8').matchAll(exported)].map(([, name]) => name);
        if (names.length === 0) throw new Error(`${path} exports nothing that can be left out`);
        const contents = names.map((name) => `export const ${name} = () => undefined;`).join('\n');
        return { contents, loader: 'js' };
      });
    },
  };
}
