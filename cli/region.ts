import { InvalidArgumentError, Option } from 'commander';
import { meant } from '../shared/contract/nearest.ts';
import { REGION } from '../shared/core/model/labels.ts';
import type { ClusterState } from '../shared/ports.ts';
import { AWS_REGIONS } from './aws-regions.ts';

/** Zones are named after their region: `us-east-1a`, and local ones `us-west-2-lax-1a`. */
const ZONE_NAME = /^([a-z]{2}(?:-[a-z]+)+-\d)/;

/** The region that nodes name, or else subnets which classes have resolved; undefined: none does. */
export function namedRegion({ objects, nodeClasses }: ClusterState): string | undefined {
  const ofNodes = objects.nodes.map(({ labels }) => labels[REGION]);
  const zones = nodeClasses.flatMap(({ status }) => status.subnets.map(({ zone }) => zone));
  const ofClasses = zones.map((zone) => ZONE_NAME.exec(zone)?.[1]);
  return [...ofNodes, ...ofClasses].find((each) => each !== undefined && each !== '');
}

/** As AWS names regions: `us-east-1`, `us-gov-west-1`, `mx-central-1`. */
const REGION_NAME = /^[a-z]{2}(?:-[a-z]+)+-\d$/;

/** Whether a text is written as the name of a region is. */
export function isRegionName(text: string): boolean {
  return REGION_NAME.test(text);
}

/** What is expected instead of a text that is no region's name. */
export function regionExpected(text: string): string {
  const near = meant(text, AWS_REGIONS);
  return `expected the name of a region${near}; known: ${AWS_REGIONS.join(', ')}`;
}

/** `--region`, which has to be named as AWS names regions. */
export function regionOption(description: string): Option {
  return new Option('--region <region>', description).argParser((text) => {
    if (isRegionName(text)) return text;
    throw new InvalidArgumentError(regionExpected(text));
  });
}
