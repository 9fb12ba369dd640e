/** Where measurements are written, as the stack tells the function `metrics`. */
export interface RemoteWriteTarget {
  readonly endpoint: string;
  /** ARN of a secret; absent: SigV4 for Amazon Managed Prometheus, nothing for others. */
  readonly secret?: string;
  /** Whether there are series of each pod. */
  readonly perPod: boolean;
}

const PROMETHEUS_HOST = /^aps-workspaces(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;
const WORKSPACE = /^\/workspaces\/(ws-[a-z0-9-]+)\/api\/v1\/remote_write$/;

/** The region of a workspace of Amazon Managed Prometheus; undefined: it is somebody else's. */
export function prometheusRegion({ hostname }: URL): string | undefined {
  return PROMETHEUS_HOST.exec(hostname)?.[1];
}

/** The id of the workspace, of which the role is allowed to write that one alone. */
export function workspaceId({ pathname }: URL): string | undefined {
  return WORKSPACE.exec(pathname)?.[1];
}

const SECRET =
  /^arn:aws(?:-cn)?:(?:secretsmanager:[a-z0-9-]+:\d{12}:secret:([\w/+=.@-]+)-\w{6}|ssm:[a-z0-9-]+:\d{12}:parameter\/([\w/.-]+))$/;

/** Whether it is the whole ARN of a secret of Secrets Manager or of a parameter of SSM. */
export function isSecretArn(arn: string): boolean {
  return SECRET.test(arn);
}

/**
 * The parameter of SSM by which the secret is read; SSM hands out those of Secrets Manager, too.
 * https://docs.aws.amazon.com/systems-manager/latest/userguide/integration-ps-secretsmanager.html
 */
export function parameterOf(arn: string): string {
  const [, secret, parameter = ''] = SECRET.exec(arn) ?? [];
  if (secret !== undefined) return `/aws/reference/secretsmanager/${secret}`;
  return parameter.includes('/') ? `/${parameter}` : parameter;
}
