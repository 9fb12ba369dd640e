import { EC2Client } from '@aws-sdk/client-ec2';
import { EKSClient } from '@aws-sdk/client-eks';
import { IAMClient } from '@aws-sdk/client-iam';
import { PricingClient } from '@aws-sdk/client-pricing';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** How AWS is reached; everything explicit, nothing is looked up from files or the network. */
export interface AwsAccess {
  readonly region: string;
  readonly credentials: Credentials | (() => Promise<Credentials>);
  /** Names the caller in CloudTrail, e.g. `provision`. */
  readonly functionName: string;
  /** Undefined: AWS's own for the region. */
  readonly endpoint?: string;
  /** Until the answer begins, and of silence inside it, for one attempt; default 20 s. */
  readonly timeoutMs?: number;
  /** Gives up calls that still wait, but for those with a signal of their own. @default nothing does */
  readonly deadline?: () => AbortSignal | undefined;
}

/**
 * The keys that Lambda puts in its environment.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export function environmentCredentials(
  environment: Readonly<Record<string, string | undefined>>,
): Credentials {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
  }
  const keys = { accessKeyId, secretAccessKey };
  return sessionToken === undefined ? keys : { ...keys, sessionToken };
}

const TIMEOUT_MS = 20_000;
const CONNECT_MS = 3_000;
const SOCKETS = 64;

/** HTTP by Node, which ends at the deadline whatever waits by then. */
class DeadlineHandler extends NodeHttpHandler {
  readonly #deadline: () => AbortSignal | undefined;

  constructor(options: NodeHttpHandlerOptions, deadline: () => AbortSignal | undefined) {
    super(options);
    this.#deadline = deadline;
  }

  override handle(...[request, options]: Parameters<NodeHttpHandler['handle']>) {
    const abortSignal = options?.abortSignal ?? this.#deadline();
    return super.handle(request, abortSignal === undefined ? options : { ...options, abortSignal });
  }
}

function requestHandler(
  timeoutMs: number,
  deadline: () => AbortSignal | undefined = () => undefined,
): NodeHttpHandler {
  const options = {
    connectionTimeout: CONNECT_MS,
    requestTimeout: timeoutMs,
    // Also of silence inside an answer: the SDK would wait for 15 minutes.
    socketTimeout: timeoutMs,
    throwOnRequestTimeout: true,
    httpAgent: { maxSockets: SOCKETS },
    httpsAgent: { maxSockets: SOCKETS },
  };
  return new DeadlineHandler(options, deadline);
}

/** One attempt per call: retries are counted in one place, {@link Calls}. */
export function configuration(access: AwsAccess) {
  const { region, credentials, functionName, endpoint, timeoutMs = TIMEOUT_MS } = access;
  const customUserAgent: [string, string][] = [['joiner', functionName]];
  return {
    region,
    credentials,
    customUserAgent,
    maxAttempts: 1,
    requestHandler: requestHandler(timeoutMs, access.deadline),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

export function ec2Client(access: AwsAccess): EC2Client {
  return new EC2Client(configuration(access));
}

export function ssmClient(access: AwsAccess): SSMClient {
  return new SSMClient(configuration(access));
}

export function eksClient(access: AwsAccess): EKSClient {
  return new EKSClient(configuration(access));
}

export function sqsClient(access: AwsAccess): SQSClient {
  return new SQSClient(configuration(access));
}

export function iamClient(access: AwsAccess): IAMClient {
  return new IAMClient(configuration(access));
}

/** Path style only where an endpoint is given: there are no bucket hosts on loopback. */
export function s3Client(access: AwsAccess): S3Client {
  return new S3Client({
    ...configuration(access),
    forcePathStyle: access.endpoint !== undefined,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/**
 * Prices are served from a few regions only.
 * https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html
 */
export function pricingClient(access: AwsAccess): PricingClient {
  return new PricingClient({ ...configuration(access), region: pricingRegion(access.region) });
}

/** Where prices of the region's partition and geography are served. */
export function pricingRegion(region: string): string {
  if (region.startsWith('cn-')) return 'cn-northwest-1';
  if (region.startsWith('ap-')) return 'ap-south-1';
  return region.startsWith('eu-') ? 'eu-central-1' : 'us-east-1';
}
