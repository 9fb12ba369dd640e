import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as made from './bundle.ts';

/**
 * In the npm package in place of `bundle.ts`: `npm run package` has bundled the functions and put
 * them beside the folder of this file, so that an app needs neither a bundler nor our sources.
 */
const FUNCTIONS = join(import.meta.dirname, '..', 'functions');

export const BUNDLE_HANDLER: typeof made.BUNDLE_HANDLER = 'index.handler';

export const bundleFunctionsNow: typeof made.bundleFunctionsNow = (names) =>
  new Map(names.map((name) => [name, join(FUNCTIONS, name)]));

export const manifests: typeof made.manifests = () =>
  JSON.parse(readFileSync(join(FUNCTIONS, 'install', 'manifests.json'), 'utf8'));
