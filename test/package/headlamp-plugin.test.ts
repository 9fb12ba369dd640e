import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import * as React from 'react';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHeadlampPlugin, npmInPlugin } from '../../scripts/headlamp/build.ts';
import { HEADLAMP } from '../support/headlamp-plugin.ts';
import { root } from '../support/repository.ts';

/** The plugin as Headlamp's own tool builds it: with JOINER_HEADLAMP only, for it installs 850 MB. */
if (HEADLAMP === undefined) {
  process.stderr.write('skipped: JOINER_HEADLAMP=build builds the plugin for Headlamp\n');
}

/** Uncompressed; 247 kB when this was written. */
const BYTES_MAX = 300_000;

/** Runs the bundle as Headlamp does, and returns what it registers, in order. */
function registered(bundle: string): readonly string[] {
  const said: string[] = [];
  const note = (what: string) => (given: unknown) => {
    const { path = '', name = '' } = Object(given);
    said.push(`${what} ${path === '' ? name : path}`.trim());
  };
  const pluginLib = {
    React,
    CommonComponents: {},
    ReactRouter: {},
    ReactJSX: { jsx: () => null, jsxs: () => null },
    Crd: { makeCustomResourceClass: () => class {} },
    registerDetailsViewSection: note('section'),
    registerRoute: note('route'),
    registerSidebarEntry: note('sidebar'),
  };
  runInNewContext(bundle, { pluginLib, console, URL });
  return said;
}

describe.skipIf(HEADLAMP === undefined)('the plugin for Headlamp', () => {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-headlamp-'));
  let main = '';
  beforeAll(async () => {
    main = await buildHeadlampPlugin(folder);
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is a folder with the licences of what it holds', () => {
    expect(readdirSync(dirname(main)).sort()).toEqual([
      'LICENSE',
      'THIRD-PARTY-NOTICES.txt',
      'main.js',
      'package.json',
    ]);
    const notices = readFileSync(join(dirname(main), 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    expect(notices).toContain('- zod ');
    expect(notices).not.toContain('- react ');
  });

  it('is small, and registers its sections and pages', () => {
    const bundle = readFileSync(main, 'utf8');
    expect(bundle.length).toBeLessThan(BYTES_MAX);
    expect(registered(bundle)).toEqual([
      'sidebar joiner',
      'section',
      'route /joiner/nodes',
      'sidebar joiner-nodes',
      'route /joiner/decisions',
      'sidebar joiner-decisions',
      'route /joiner/nodeclaims/:name',
    ]);
  });

  it('fits the types of Headlamp', () => {
    expect(() => npmInPlugin('run', 'check')).not.toThrow();
  });
});

it('the plugin has the version of the package', () => {
  const versionIn = (file: string): string =>
    JSON.parse(readFileSync(join(root, file), 'utf8')).version;
  expect(versionIn('headlamp-plugin/package.json')).toBe(versionIn('package.json'));
  expect(versionIn('headlamp-plugin/package-lock.json')).toBe(versionIn('package.json'));
});
