import * as ec2 from '@aws-sdk/client-ec2';
import * as eks from '@aws-sdk/client-eks';
import * as eventBridge from '@aws-sdk/client-eventbridge';
import * as iam from '@aws-sdk/client-iam';
import * as pricing from '@aws-sdk/client-pricing';
import * as s3 from '@aws-sdk/client-s3';
import * as sqs from '@aws-sdk/client-sqs';
import * as ssm from '@aws-sdk/client-ssm';
import { NormalizedSchema } from '@smithy/core/schema';
import type { Operation } from './operation.ts';
import { zonalShiftOperations } from './zonal-shift-service.ts';

/** How a service is spoken to. https://smithy.io/2.0/aws/protocols/ */
export type Protocol = 'ec2Query' | 'awsQuery' | 'awsJson' | 'restJson' | 'restXml';

/** The SDK exports an operation as `[9, namespace, name, traits, input, output]`. */
const OPERATION = 9;

/** The services of the wire server, by the name that requests are signed for. */
export const SERVICES = {
  'arc-zonal-shift': { protocol: 'restJson', operations: zonalShiftOperations },
  ec2: { protocol: 'ec2Query', operations: operationsOf(ec2) },
  eks: { protocol: 'restJson', operations: operationsOf(eks) },
  events: { protocol: 'awsJson', operations: operationsOf(eventBridge) },
  iam: { protocol: 'awsQuery', operations: operationsOf(iam) },
  pricing: { protocol: 'awsJson', operations: operationsOf(pricing) },
  s3: { protocol: 'restXml', operations: operationsOf(s3) },
  sqs: { protocol: 'awsJson', operations: operationsOf(sqs) },
  ssm: { protocol: 'awsJson', operations: operationsOf(ssm) },
} as const satisfies Record<
  string,
  { readonly protocol: Protocol; readonly operations: ReadonlyMap<string, Operation> }
>;

export type ServiceName = keyof typeof SERVICES;

export function isServiceName(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name);
}

function operationsOf(module: object): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const [key, value] of Object.entries(module)) {
    if (!key.endsWith('$') || !Array.isArray(value) || value[0] !== OPERATION) continue;
    const [, , name, traits, input, output] = value;
    const http = typeof traits === 'object' && traits !== null ? traits['http'] : undefined;
    operations.set(String(name), {
      name: String(name),
      input: NormalizedSchema.of(input),
      output: NormalizedSchema.of(output),
      http,
    });
  }
  return operations;
}
