import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { billOfMaterials } from '../../scripts/package/bom.ts';
import { bundledPackages } from '../../scripts/package/notices.ts';

let root = '';

/** A package in a folder; returns the folder. */
function packageAt(folder: string, name: string, version: string, license: string): string {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'package.json'), JSON.stringify({ name, version, license }));
  return folder;
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'joiner-bom-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('has each version of a package once, with its licence and package URL, in any order given', () => {
  const folders = [
    packageAt('node_modules/yaml', 'yaml', '2.9.1', 'ISC'),
    packageAt('node_modules/a/node_modules/yaml', 'yaml', '1.0.0', 'ISC'),
    packageAt('node_modules/b/node_modules/yaml', 'yaml', '1.0.0', 'ISC'),
    packageAt('node_modules/@middy/core', '@middy/core', '6.4.5', 'MIT'),
  ];
  const text = billOfMaterials(bundledPackages(root, folders));
  const library = (purl: string, rest: object, licence: string) => ({
    type: 'library',
    'bom-ref': purl,
    ...rest,
    licenses: [{ license: { id: licence } }],
    purl,
  });
  const purls = ['pkg:npm/%40middy/core@6.4.5', 'pkg:npm/yaml@1.0.0', 'pkg:npm/yaml@2.9.1'];
  const [middy = '', older = '', newer = ''] = purls;
  const own = `pkg:npm/eks-joiner@${packageJson.version}`;
  expect(JSON.parse(text)).toEqual({
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name: 'eks-joiner',
        version: packageJson.version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        purl: own,
      },
    },
    components: [
      library(middy, { group: '@middy', name: 'core', version: '6.4.5' }, 'MIT'),
      library(older, { name: 'yaml', version: '1.0.0' }, 'ISC'),
      library(newer, { name: 'yaml', version: '2.9.1' }, 'ISC'),
    ],
    dependencies: [{ ref: own, dependsOn: purls }],
  });
  expect(billOfMaterials(bundledPackages(root, folders.toReversed()))).toBe(text);
});

it('a licence that nobody has looked at is refused', () => {
  const folder = packageAt('node_modules/other', 'other', '1.0.0', 'SSPL-1.0');
  expect(() => bundledPackages(root, [folder])).toThrow('other has the licence SSPL-1.0');
});
