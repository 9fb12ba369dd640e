import { ec2Client } from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { Ec2Network } from '../../shared/aws/network.ts';
import { ArcZonalShifts } from '../../shared/aws/zonal-shifts.ts';
import { forbiddenPort } from '../runtime/forbidden-port.ts';
import { offerings } from '../runtime/offerings.ts';
import type { Base, Cloud } from '../runtime/sandbox.ts';
import { launchTemplates } from '../runtime/templates.ts';

/** To launch: fleets, templates, and what there is to buy. */
export function launchingCloud(base: Base): Cloud {
  const { access, calls, config } = base;
  const ec2 = ec2Client(access);
  const network = new Ec2Network({ ec2, calls });
  const templates = launchTemplates(base, ec2);
  return {
    compute: new Ec2Compute({ ec2, calls, templates, cluster: config.cluster }),
    network,
    catalog: offerings(base, network),
    images: forbiddenPort('images'),
    profiles: forbiddenPort('profiles'),
    zonalShifts: new ArcZonalShifts({
      access,
      calls,
      dnsSuffix: config.dnsSuffix,
      resource: async () => (await base.cluster()).zonalShiftArn,
    }),
  };
}
