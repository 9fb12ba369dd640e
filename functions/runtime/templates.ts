import type { EC2Client } from '@aws-sdk/client-ec2';
import { LaunchTemplates } from '../../shared/aws/launch-templates.ts';
import type { Base } from './sandbox.ts';

/** Launch templates with as many EFA interfaces as the catalog knows of the type. */
export function launchTemplates(
  { calls, cluster, catalog }: Base,
  ec2: EC2Client,
): LaunchTemplates {
  const efaInterfaces = (type: string): number =>
    catalog().types.find((each) => each.name === type)?.efaInterfaces ?? 0;
  return new LaunchTemplates({ ec2, calls, cluster, efaInterfaces });
}
