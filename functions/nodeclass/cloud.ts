import { ec2Client, iamClient, ssmClient } from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { Ec2Images } from '../../shared/aws/images.ts';
import { Ec2Network } from '../../shared/aws/network.ts';
import { NodeClassValidation } from '../../shared/aws/node-class-validation.ts';
import { IamProfiles } from '../../shared/aws/profiles.ts';
import { offerings } from '../runtime/offerings.ts';
import type { Base, Cloud } from '../runtime/sandbox.ts';
import { launchTemplates } from '../runtime/templates.ts';

/** To find what a class's selectors mean, and whether nodes could start from it. */
export function describingCloud(base: Base): Cloud {
  const { access, calls, cluster, config } = base;
  const { region, isolatedVpc: isolated } = config;
  const ec2 = ec2Client(access);
  const network = new Ec2Network({ ec2, calls });
  const templates = launchTemplates(base, ec2);
  const iam = iamClient(access);
  const validation = new NodeClassValidation(cluster);
  return {
    compute: new Ec2Compute({ ec2, calls, templates, cluster: config.cluster, validation }),
    images: new Ec2Images({ ec2, ssm: ssmClient(access), calls, cluster }),
    network,
    profiles: new IamProfiles({ iam, calls, cluster: config.cluster, region, isolated }),
    catalog: offerings(base, network),
  };
}
