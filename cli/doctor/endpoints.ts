import { pricingRegion } from '../../shared/aws/access.ts';
import { dnsSuffixOf } from '../aws-regions.ts';

/** The services of docs/private-clusters.md. */
export const SERVICES = [
  'eks',
  'ec2',
  'sts',
  'ssm',
  's3',
  'sqs',
  'events',
  'pricing',
  'iam',
  'logs',
] as const;

export type Service = (typeof SERVICES)[number];

/** What is missing where functions in the VPC have no way to a service. */
export const NEEDED_INSIDE: Readonly<Partial<Record<Service, string>>> = {
  eks: 'the functions do not find the cluster',
  ec2: 'no launches and no terminations',
  s3: 'the installer cannot answer CloudFormation, and nothing is remembered',
  events: 'reaction within a minute instead of a second',
  ssm: 'aliases of images are not resolved',
  iam: 'no instance profiles: deploy with -c isolatedVpc=true and name instanceProfile in classes',
};

/** Why the others may be out of reach from inside. */
export const NOT_NEEDED_INSIDE: Readonly<Partial<Record<Service, string>>> = {
  sts: 'tokens are signed without a call',
  sqs: 'Lambda takes the messages from the queue',
  logs: 'Lambda delivers logs from outside of the VPC',
  pricing: 'the function catalog is outside of the VPC',
};

/** The host that answers for a service to callers of the region. */
export function hostOf(service: string, region: string): string {
  const suffix = dnsSuffixOf(region);
  if (service === 'iam') {
    if (region.startsWith('cn-')) return `iam.cn-north-1.${suffix}`;
    return region.startsWith('us-gov-') ? `iam.us-gov.${suffix}` : `iam.${suffix}`;
  }
  if (service === 'pricing') return `api.pricing.${pricingRegion(region)}.${suffix}`;
  return `${service}.${region}.${suffix}`;
}

const ANSWER_MS_MAX = 5_000;

/** Any answer at all will do: what it says is told by other checks. */
export async function answers(url: string): Promise<'answers'> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.body?.cancel();
    return 'answers';
  } catch (error) {
    throw new Error(`${url}: ${reasonOf(error, ANSWER_MS_MAX)}`);
  }
}

/** What fetch hides behind `fetch failed`. */
export function reasonOf(error: unknown, waitedMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${waitedMs / 1000} s`;
  return error.cause instanceof Error ? error.cause.message : error.message;
}
