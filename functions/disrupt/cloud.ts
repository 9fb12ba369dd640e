import { ec2Client } from '../../shared/aws/access.ts';
import { Ec2Network } from '../../shared/aws/network.ts';
import { forbiddenPort } from '../runtime/forbidden-port.ts';
import { offerings } from '../runtime/offerings.ts';
import type { Base, Cloud } from '../runtime/sandbox.ts';

/** What there is to buy; of EC2 only what is free in reservations, which replacements may go into. */
export function planningCloud(base: Base): Cloud {
  const { access, calls } = base;
  const network = new Ec2Network({ ec2: ec2Client(access), calls });
  return {
    compute: forbiddenPort('compute'),
    images: forbiddenPort('images'),
    network: forbiddenPort('network'),
    profiles: forbiddenPort('profiles'),
    catalog: offerings(base, network),
  };
}
