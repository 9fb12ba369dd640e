import { canonicalText } from '../../core/launch/canonical-text.ts';
import type {
  Image,
  NodeClass,
  SecurityGroup,
  SelectorTerm,
  Subnet,
} from '../../core/model/node-class.ts';

/** By the canonical text of selector terms. */
export type Found<Item> = ReadonlyMap<string, readonly Item[]>;

/** What the selectors of real classes have found in their account. */
export interface FoundByClasses {
  readonly images: Found<Image>;
  readonly subnets: Found<Subnet>;
  readonly securityGroups: Found<SecurityGroup>;
}

function byTerms<Item>(
  classes: readonly NodeClass[],
  found: (nodeClass: NodeClass) => readonly [readonly SelectorTerm[], readonly Item[]],
): Found<Item> {
  const all = classes.map(found).filter(([, items]) => items.length > 0);
  return new Map(all.map(([terms, items]) => [canonicalText(terms), items]));
}

/** As the status of the classes says. Subnets of another region would leave no zone. */
export function foundByClasses(
  classes: readonly NodeClass[],
  zones: readonly Pick<Subnet, 'zone'>[],
): FoundByClasses {
  const own = new Set(zones.map(({ zone }) => zone));
  return {
    images: byTerms(classes, (each) => [each.amiSelectorTerms, each.status.images]),
    subnets: byTerms(classes, ({ subnetSelectorTerms, status }) => [
      subnetSelectorTerms,
      status.subnets.filter(({ zone }) => own.has(zone)),
    ]),
    securityGroups: byTerms(classes, (each) => [
      each.securityGroupSelectorTerms,
      each.status.securityGroups,
    ]),
  };
}
