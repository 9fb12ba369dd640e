import type { Catalog } from '../../shared/catalog/facts.ts';
import { meant } from '../../shared/contract/nearest.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import {
  ARCH,
  CAPACITY_TYPE,
  CAPACITY_TYPES,
  INSTANCE_TYPE,
  OS,
  ZONE,
} from '../../shared/core/model/labels.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { thereAre } from '../unknown-names.ts';

const FAMILY = 'karpenter.k8s.aws/instance-family';

/** Keys of which every value is known. */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  [CAPACITY_TYPE]: CAPACITY_TYPES,
  [ARCH]: ['amd64', 'arm64'],
  [OS]: ['linux', 'windows'],
};

/** Values that a NodePool or a NodeOverlay names under the key. */
function asked(object: Json, key: string): readonly string[] {
  const lists = [
    ...listAt(object, 'spec', 'requirements'),
    ...listAt(objectAt(object, 'spec', 'template', 'spec'), 'requirements'),
  ];
  const values = lists
    .filter((each) => textAt(each, 'key') === key)
    .filter((each) => ['In', 'NotIn'].includes(textAt(each, 'operator') ?? ''))
    .flatMap((each) => listAt(each, 'values'))
    .filter((value) => typeof value === 'string');
  return [...new Set(values)];
}

/** Instance types that the catalog has not. A size may be misspelt; other families may be new ones. */
function typesOf(object: Json, types: ReadonlySet<string>): readonly string[] {
  const unknown = asked(object, INSTANCE_TYPE).filter((each) => !types.has(each));
  return unknown.map((each) => {
    const family = each.includes('.') ? each.replace(/\..*/, '.') : '';
    return `${each}${meant(
      each,
      [...types].filter((type) => type.startsWith(family)),
    )}`;
  });
}

/** Zones likewise. An account may have another one of the region itself: what there is is named. */
function zonesOf(object: Json, { region, zones }: Catalog): readonly string[] {
  const known = zones.map(({ zone }) => zone);
  return asked(object, ZONE)
    .filter((each) => !known.includes(each))
    .map((each) =>
      each.startsWith(region) ? `${each} (${thereAre(known)})` : `${each}${meant(each, known)}`,
    );
}

/**
 * A line for each object that names values which nothing has: capacity types, architectures and
 * operating systems that there are not, and what the region's catalog does not have, though EC2
 * may offer it.
 */
export function unknownValueNotes(manifests: readonly Json[], catalog: Catalog): readonly string[] {
  const types = new Set(catalog.types.map(({ name }) => name));
  const families = new Set([...types].map((name) => name.split('.')[0] ?? name));
  return manifests.flatMap((object) => {
    const name = `${String(object['kind'])}/${textAt(object, 'metadata', 'name') ?? ''}`;
    const closed = Object.entries(CLOSED).flatMap(([key, known]) =>
      asked(object, key)
        .filter((each) => !known.includes(each))
        .map((each) => `${name}: ${key} has no value ${each}${meant(each, known)}`),
    );
    const unknown = [
      ...typesOf(object, types),
      ...asked(object, FAMILY).filter((each) => !families.has(each)),
      ...zonesOf(object, catalog),
    ];
    if (unknown.length === 0) return closed;
    const list = unknown.join(', ');
    return [
      ...closed,
      `${name}: the catalog of ${catalog.region} has no ${list}; ${pageUrl('catalog.md')} says why`,
    ];
  });
}
