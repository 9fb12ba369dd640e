import { EKSClient } from '@aws-sdk/client-eks';
import type { AwsAccess, Credentials } from '../shared/aws/access.ts';
import type { Signing } from './doctor/signed.ts';

/** AWS with the caller's credentials. */
export interface Aws {
  readonly access: AwsAccess;
  readonly signing: Signing;
}

/** Variables of the SDK: profiles, keys, roles, single sign-on, and an endpoint for emulators. */
export function awsOf(region: string, functionName: string): Aws {
  const endpoint = process.env['AWS_ENDPOINT_URL'];
  const { credentials } = new EKSClient({ region }).config;
  const keys = async (): Promise<Credentials> => {
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
    const pair = { accessKeyId, secretAccessKey };
    return sessionToken === undefined ? pair : { ...pair, sessionToken };
  };
  const access = { region, credentials: keys, functionName, timeoutMs: 10_000 };
  return {
    access: endpoint === undefined ? access : { ...access, endpoint },
    signing: { region, credentials: keys, endpoint },
  };
}
