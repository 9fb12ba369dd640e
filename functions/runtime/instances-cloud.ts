import { ec2Client } from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { forbiddenPort } from './forbidden-port.ts';
import type { Base, Cloud } from './sandbox.ts';

/** To look at instances and, where the role allows, end them: nothing is launched. */
export function instancesCloud({ access, calls, config: { cluster } }: Base): Cloud {
  const ec2 = ec2Client(access);
  return {
    compute: new Ec2Compute({ ec2, calls, templates: forbiddenPort('templates'), cluster }),
    images: forbiddenPort('images'),
    network: forbiddenPort('network'),
    profiles: forbiddenPort('profiles'),
    catalog: forbiddenPort('catalog'),
  };
}
