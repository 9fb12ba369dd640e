import type { Catalog } from '../../shared/catalog/facts.ts';
import { INSTANCE_TYPE } from '../../shared/core/model/labels.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { pageUrl } from '../pages.ts';

const FAMILY = 'karpenter.k8s.aws/instance-family';

/** Values that a NodePool or a NodeOverlay asks for under the key. */
function asked(object: Json, key: string): readonly string[] {
  const lists = [
    ...listAt(object, 'spec', 'requirements'),
    ...listAt(objectAt(object, 'spec', 'template', 'spec'), 'requirements'),
  ];
  return lists
    .filter((each) => textAt(each, 'key') === key && textAt(each, 'operator') === 'In')
    .flatMap((each) => listAt(each, 'values'))
    .filter((value) => typeof value === 'string');
}

/**
 * A line for each object that asks for instance types or families that the region's catalog does
 * not have: nothing is planned with them, though EC2 may offer them.
 */
export function unknownTypeNotes(manifests: readonly Json[], catalog: Catalog): readonly string[] {
  const types = new Set(catalog.types.map(({ name }) => name));
  const families = new Set([...types].map((name) => name.split('.')[0] ?? name));
  return manifests.flatMap((object) => {
    const unknown = [
      ...asked(object, INSTANCE_TYPE).filter((each) => !types.has(each)),
      ...asked(object, FAMILY).filter((each) => !families.has(each)),
    ];
    if (unknown.length === 0) return [];
    const name = `${String(object['kind'])}/${textAt(object, 'metadata', 'name') ?? ''}`;
    const list = [...new Set(unknown)].join(', ');
    return [
      `${name}: the catalog of ${catalog.region} has no ${list}; ${pageUrl('catalog.md')} says why`,
    ];
  });
}
