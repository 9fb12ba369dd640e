import type { CallersAccess } from './aws-access.ts';
import { BadInput } from './bad-input.ts';
import { deployedFunctions } from './doctor/account.ts';

/** The region that is given, or that of the environment. */
export function givenRegion(region: string | undefined): string | undefined {
  return region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
}

/** The bucket that the functions of a cluster's stack name; a {@link BadInput} where none does. */
export async function stackBucket(
  { region, credentials, endpoint }: CallersAccess,
  cluster: string,
): Promise<string> {
  const functions = await deployedFunctions({ region, credentials, endpoint }, cluster);
  const found = functions.find(({ bucket }) => bucket !== '');
  if (found !== undefined) return found.bucket;
  throw new BadInput([`no function of a stack for ${cluster} names a bucket: give --bucket`]);
}
