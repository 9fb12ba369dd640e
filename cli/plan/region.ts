import { REGIONS } from '../../shared/catalog/catalog.ts';
import { REGION } from '../../shared/core/model/labels.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { BadInput } from '../bad-input.ts';

/** Zones are named after their region: `us-east-1a`, and local ones `us-west-2-lax-1a`. */
const ZONE_NAME = /^([a-z]{2}(?:-[a-z]+)+-\d)/;

/**
 * The region that was asked for, else that of the nodes, else that of the subnets which classes
 * have resolved. Bad input: there is none, or no prices of it are embedded.
 */
export function regionOf({ objects, nodeClasses }: ClusterState, asked?: string): string {
  if (asked !== undefined) return asked;
  const ofNodes = objects.nodes.map(({ labels }) => labels[REGION]);
  const zones = nodeClasses.flatMap(({ status }) => status.subnets.map(({ zone }) => zone));
  const ofClasses = zones.map((zone) => ZONE_NAME.exec(zone)?.[1]);
  const region = [...ofNodes, ...ofClasses].find((each) => each !== undefined && each !== '');
  const known = REGIONS.join(', ');
  if (region === undefined) {
    throw new BadInput([`no node and no EC2NodeClass says the region: give --region (${known})`]);
  }
  if ((REGIONS as readonly string[]).includes(region)) return region;
  throw new BadInput([
    `the cluster is in ${region}, whose prices are not embedded: ` +
      `give --region (${known}) for an estimate with others`,
  ]);
}
