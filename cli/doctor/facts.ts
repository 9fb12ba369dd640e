import type { ClusterAccess } from '../../shared/aws/cluster-access.ts';
import type { FunctionName } from '../../shared/contract.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { PauseScope } from '../../shared/ports/cluster.ts';
import { PortError } from '../../shared/ports/fault.ts';
import type { Sign } from '../release/alive.ts';
import type { Service } from './endpoints.ts';

/** What was asked, or why there is no answer. */
export type Known<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly why: string };

/** Everything that the checks look at; plain data, gathered before. */
export interface Facts {
  readonly asked: Asked;
  /** The version of the command that checks. */
  readonly command: string;
  readonly nowMs: number;
  readonly caller: Known<Caller>;
  /** Undefined: there is no such cluster. */
  readonly cluster: Known<Cluster | undefined>;
  /** Those of the roles of {@link Facts.classes}. */
  readonly accessEntries: Known<readonly AccessEntry[]>;
  readonly reach: Readonly<Record<Service, Known<'answers'>>>;
  readonly network: Known<Network>;
  readonly quotas: Quotas;
  /** Whether the account has the role without which there are no spot instances. */
  readonly spotRole: Known<boolean>;
  readonly functions: Known<readonly DeployedFunction[]>;
  /** Of those of them that speak to the cluster. */
  readonly identities: Known<readonly Identity[]>;
  /** When the catalog in the bucket was read from AWS; undefined: there is none. */
  readonly catalogAtMs: Known<number | undefined>;
  readonly kubernetes: Known<Kubernetes>;
  /** Of the manifests that were given and of the cluster. */
  readonly classes: readonly ClassFacts[];
  readonly pools: readonly NodePool[];
}

export interface Asked {
  readonly cluster: string;
  readonly region: string;
  /** Whether this machine is where the functions are or will be. */
  readonly isInside: boolean;
  readonly hasEmbeddedCatalog: boolean;
}

export interface Caller {
  readonly account: string;
  readonly arn: string;
}

export interface Cluster extends ClusterAccess {
  /** Of Kubernetes, e.g. 1.33. */
  readonly version: string;
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupId: string;
}

export interface AccessEntry {
  readonly principalArn: string;
  /** `STANDARD`, `EC2_LINUX`, `EC2_WINDOWS`, `EC2`, … */
  readonly type: string;
}

/** The subnets that the functions have or would have, and how they get to AWS from there. */
export interface Network {
  readonly subnetIds: readonly string[];
  /** Services with an endpoint in the VPC that is available. */
  readonly endpoints: readonly { readonly service: string; readonly hasPrivateDns: boolean }[];
  /** Subnets with a route to everywhere: NAT, a transit gateway, a firewall. */
  readonly routedSubnetIds: readonly string[];
}

export interface Quotas {
  readonly concurrency: Known<{ readonly limit: number; readonly unreserved: number }>;
  readonly onDemandCpus: Known<number>;
  readonly spotCpus: Known<number>;
  readonly putEventsPerSecond: Known<number>;
  readonly rules: Known<{ readonly limit: number; readonly used: number }>;
}

/** Who a function is in the cluster. */
export interface Identity {
  readonly name: FunctionName;
  readonly principalArn: string;
  /** Kubernetes groups; none: its role has no access entry. */
  readonly groups: readonly string[];
  /** Access policies of EKS. */
  readonly policyArns: readonly string[];
}

export interface DeployedFunction {
  readonly name: FunctionName;
  readonly roleArn: string;
  readonly state: string;
  readonly version: string;
  readonly bucket: string;
  /** Empty: in no VPC. */
  readonly subnetIds: readonly string[];
}

export interface Kubernetes {
  readonly version: string;
  readonly nowMs: number;
  /** By name, as the API server has them. */
  readonly definitions: ReadonlyMap<string, unknown>;
  /** The rights of the functions' groups, and where their requests wait. */
  readonly rights: readonly RightsObject[];
  readonly signs: readonly Sign[];
  readonly paused: Partial<Record<PauseScope, number>>;
}

export interface RightsObject {
  /** e.g. `ClusterRole joiner:watch` */
  readonly object: string;
  readonly state: 'same' | 'different' | 'absent';
}

/** A class and what its selectors find. */
export interface ClassFacts {
  readonly nodeClass: NodeClass;
  /** `spec.role`, or the role in its instance profile. */
  readonly role: Known<string>;
  /** Of that role, with the path that an access entry has to name. */
  readonly roleArn: Known<string>;
  readonly subnets: Known<
    readonly { readonly id: string; readonly zone: string; readonly freeAddresses: number }[]
  >;
  readonly securityGroups: Known<readonly { readonly id: string }[]>;
}

/** The work's answer; a failure becomes its reason. */
export async function known<Value>(work: () => Promise<Value>): Promise<Known<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, why: reasonOf(error) };
  }
}

/** With AWS's code, which says more than its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PortError) return `${error.code}: ${error.message}`;
  return '$metadata' in error ? `${error.name}: ${error.message}` : error.message;
}

/** Whether the stack decides beside Karpenter and never acts. */
export function isShadow({ functions }: Facts): boolean {
  return functions.ok && functions.value.some(({ name }) => name === 'shadow');
}

/** Whether the cluster has a stack, as far as can be seen. */
export function isDeployed({ functions }: Facts): boolean {
  return functions.ok && functions.value.length > 0;
}
