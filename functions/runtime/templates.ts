import type { EC2Client } from '@aws-sdk/client-ec2';
import { LaunchTemplates } from '../../shared/aws/launch-templates.ts';
import { efaCards } from '../../shared/catalog/compatibility.ts';
import type { Base } from './sandbox.ts';

/** Launch templates with as many EFA interfaces as the catalog knows of the type. */
export function launchTemplates(
  { calls, cluster, catalog }: Base,
  ec2: EC2Client,
): LaunchTemplates {
  const efaCardsOf = (type: string): readonly number[] => {
    const facts = catalog().types.find((each) => each.name === type);
    return facts === undefined ? [] : efaCards(facts);
  };
  return new LaunchTemplates({ ec2, calls, cluster, efaCards: efaCardsOf });
}
