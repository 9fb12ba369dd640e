import { EKSClient } from '@aws-sdk/client-eks';
import type { AwsAccess, Credentials } from '../shared/aws/access.ts';

/** The caller's keys are asked for when a call is made. */
export interface CallersAccess extends AwsAccess {
  readonly credentials: () => Promise<Credentials>;
}

/** Of one call: a person waits for it. */
const TIMEOUT_MS = 10_000;

/**
 * AWS as the caller reaches it, by the SDK's own chain: profiles, keys, roles, single sign-on, and
 * `AWS_ENDPOINT_URL` for emulators. `name` is the caller in CloudTrail.
 * https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
export function callersAccess(region: string, name: string): CallersAccess {
  const endpoint = process.env['AWS_ENDPOINT_URL'];
  const { credentials } = new EKSClient({ region }).config;
  const keys = async (): Promise<Credentials> => {
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
    const pair = { accessKeyId, secretAccessKey };
    return sessionToken === undefined ? pair : { ...pair, sessionToken };
  };
  const access = { region, credentials: keys, functionName: name, timeoutMs: TIMEOUT_MS };
  return endpoint === undefined ? access : { ...access, endpoint };
}
