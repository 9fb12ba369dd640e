/**
 * What the package holds of others, for programs: a bill of materials in CycloneDX 1.6. It has
 * neither a time nor a serial number, so that the same sources make the same bytes.
 */
import packageJson from '../../package.json' with { type: 'json' };
import type { BundledPackage } from './notices.ts';

/** The package URL; the `@` of a scope is escaped in it. */
function purlOf({ name, version }: Omit<BundledPackage, 'licence'>): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** A component of the bill; the scope is its `group`. */
function component(type: 'application' | 'library', each: BundledPackage): object {
  const [name = '', group] = each.name.split('/').toReversed();
  const purl = purlOf(each);
  return {
    type,
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name,
    version: each.version,
    licenses: [{ license: { id: each.licence } }],
    purl,
  };
}

/** The text of `bom.json`: our package and those whose code it holds. */
export function billOfMaterials(bundled: readonly BundledPackage[]): string {
  const { name, version, license } = packageJson;
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component('application', { name, version, licence: license }) },
    components: bundled.map((each) => component('library', each)),
    dependencies: [{ ref: purlOf({ name, version }), dependsOn: bundled.map(purlOf) }],
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}
