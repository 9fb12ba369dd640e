import {
  DescribeRouteTablesCommand,
  DescribeVpcEndpointsCommand,
  type RouteTable,
} from '@aws-sdk/client-ec2';
import {
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  ListAccessEntriesCommand,
} from '@aws-sdk/client-eks';
import { type AwsAccess, ec2Client, eksClient } from '../../shared/aws/access.ts';
import { allPages } from '../../shared/aws/calls.ts';
import { clusterAccess } from '../../shared/aws/cluster-access.ts';
import type { AccessEntry, Cluster, Network } from './facts.ts';

/** Undefined: there is no such cluster in the account and region. */
export async function clusterOf(access: AwsAccess, name: string): Promise<Cluster | undefined> {
  const answer = await eksClient(access)
    .send(new DescribeClusterCommand({ name }))
    .catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
      throw error;
    });
  const cluster = answer?.cluster;
  if (cluster === undefined) return undefined;
  const { subnetIds = [], vpcId = '', clusterSecurityGroupId } = cluster.resourcesVpcConfig ?? {};
  return {
    ...clusterAccess(cluster),
    version: cluster.version ?? '',
    vpcId,
    subnetIds,
    securityGroupId: clusterSecurityGroupId ?? '',
  };
}

/** Entries of the named roles: only the description of an entry tells its type. */
export async function accessEntriesOf(
  access: AwsAccess,
  clusterName: string,
  roles: readonly string[],
): Promise<readonly AccessEntry[]> {
  const eks = eksClient(access);
  const arns = await allPages(async (nextToken) => {
    const page = await eks.send(new ListAccessEntriesCommand({ clusterName, nextToken }));
    return { items: page.accessEntries, next: page.nextToken };
  });
  const entries: AccessEntry[] = [];
  for (const principalArn of arns.filter((arn) => roles.some((role) => arn.endsWith(`/${role}`)))) {
    const command = new DescribeAccessEntryCommand({ clusterName, principalArn });
    const { accessEntry } = await eks.send(command);
    entries.push({ principalArn, type: accessEntry?.type ?? '' });
  }
  return entries;
}

/** How functions in these subnets get to AWS: by endpoints of the VPC, or by a route out of it. */
export async function networkOf(
  access: AwsAccess,
  vpcId: string,
  subnetIds: readonly string[],
): Promise<Network> {
  const ec2 = ec2Client(access);
  const Filters = [{ Name: 'vpc-id', Values: [vpcId] }];
  const endpoints = await allPages(async (NextToken) => {
    const page = await ec2.send(new DescribeVpcEndpointsCommand({ Filters, NextToken }));
    return { items: page.VpcEndpoints, next: page.NextToken };
  });
  const tables = await allPages(async (NextToken) => {
    const page = await ec2.send(new DescribeRouteTablesCommand({ Filters, NextToken }));
    return { items: page.RouteTables, next: page.NextToken };
  });
  return {
    subnetIds,
    endpoints: endpoints
      .filter(({ State }) => State?.toLowerCase() === 'available')
      .map(({ ServiceName = '', PrivateDnsEnabled, VpcEndpointType }) => ({
        service: ServiceName.split('.').at(-1) ?? '',
        hasPrivateDns: PrivateDnsEnabled === true || VpcEndpointType === 'Gateway',
      })),
    routedSubnetIds: subnetIds.filter((id) => hasWayOut(tableOf(tables, id))),
  };
}

/** A subnet without a table of its own has the main one. */
function tableOf(tables: readonly RouteTable[], subnetId: string): RouteTable | undefined {
  const own = tables.find(({ Associations = [] }) =>
    Associations.some(({ SubnetId }) => SubnetId === subnetId),
  );
  return own ?? tables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main));
}

/** An internet gateway is none: functions have no public addresses. */
function hasWayOut(table: RouteTable | undefined): boolean {
  return (table?.Routes ?? []).some(
    ({ DestinationCidrBlock, State, GatewayId }) =>
      DestinationCidrBlock === '0.0.0.0/0' &&
      State === 'active' &&
      GatewayId?.startsWith('igw-') !== true,
  );
}
