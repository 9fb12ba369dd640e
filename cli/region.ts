import { InvalidArgumentError, Option } from 'commander';
import { REGION } from '../shared/core/model/labels.ts';
import type { ClusterState } from '../shared/ports.ts';

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

/** `--region`, which has to be named as AWS names regions. */
export function regionOption(description: string): Option {
  return new Option('--region <region>', description).argParser((text) => {
    if (REGION_NAME.test(text)) return text;
    throw new InvalidArgumentError('expected the name of a region, such as us-east-1.');
  });
}
