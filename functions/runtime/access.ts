import { type AwsAccess, environmentCredentials } from '../../shared/aws/access.ts';

/** The SDK's own variable: tests and emulators set it. */
const ENDPOINT = 'AWS_ENDPOINT_URL';

/** AWS as a function in Lambda reaches it: with the keys of its role, which Lambda renews. */
export function lambdaAccess(
  region: string,
  functionName: string,
  deadline: () => AbortSignal | undefined = () => undefined,
): AwsAccess {
  const endpoint = process.env[ENDPOINT];
  const access = {
    region,
    functionName,
    deadline,
    credentials: async () => environmentCredentials(process.env),
  };
  return endpoint === undefined ? access : { ...access, endpoint };
}
