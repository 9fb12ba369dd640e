import { REGIONS } from '../shared/catalog/catalog.ts';
import { REGION } from '../shared/core/model/labels.ts';
import type { ClusterState } from '../shared/ports.ts';
import { BadInput } from './bad-input.ts';

/** Zones are named after their region: `us-east-1a`, and local ones `us-west-2-lax-1a`. */
const ZONE_NAME = /^([a-z]{2}(?:-[a-z]+)+-\d)/;

/** The region that nodes name, or else subnets which classes have resolved; undefined: none does. */
export function namedRegion({ objects, nodeClasses }: ClusterState): string | undefined {
  const ofNodes = objects.nodes.map(({ labels }) => labels[REGION]);
  const zones = nodeClasses.flatMap(({ status }) => status.subnets.map(({ zone }) => zone));
  const ofClasses = zones.map((zone) => ZONE_NAME.exec(zone)?.[1]);
  return [...ofNodes, ...ofClasses].find((each) => each !== undefined && each !== '');
}

/** Whether prices of the region are embedded. */
export function isPriced(region: string): boolean {
  return (REGIONS as readonly string[]).includes(region);
}

/**
 * The cluster's region, or the one that was asked for where the cluster names none. Bad input: no
 * prices are known of it, or another was asked for, in whose zones nothing could be launched.
 */
export function pricedRegion(state: ClusterState, asked: string | undefined): string {
  const named = namedRegion(state);
  const region = named ?? asked;
  const known = REGIONS.join(', ');
  if (region === undefined) {
    throw new BadInput([`no node and no EC2NodeClass says the region: give --region (${known})`]);
  }
  if (asked !== undefined && asked !== region) {
    throw new BadInput([`--region ${asked}: the cluster is in ${region}`]);
  }
  if (isPriced(region)) return region;
  throw new BadInput([
    `the cluster is in ${region}, of which no prices are embedded (${known} are)`,
  ]);
}
