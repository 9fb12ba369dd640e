import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ClusterAccess } from './cluster-access.ts';
import type { JoinerProps } from './joiner-props.ts';
import { type FurtherRole, furtherRole, NodeRole } from './node-role.ts';

/** The roles that nodes of a stack may have. */
export interface NodeRoles {
  readonly linux: iam.IRole;
  /** Undefined: the stack launches no Windows nodes. */
  readonly windows: iam.IRole | undefined;
  readonly further: readonly FurtherRole[];
  /** Of all of them. */
  readonly arns: readonly string[];
}

/** The roles by the props: new ones, or those that are given. */
export function nodeRoles(scope: Construct, props: JoinerProps, cluster: string): NodeRoles {
  const linux = linuxRole(scope, props, cluster);
  const windows =
    props.windowsNodes === true
      ? new NodeRole(scope, 'WindowsNodes', { cluster, platform: 'windows' }).role
      : undefined;
  const named = (props.nodeRoles ?? []).map((role) => furtherRole(scope, role));
  const further = [...new Map(named.map((role) => [role.id, role])).values()];
  const own = [linux, ...(windows === undefined ? [] : [windows])];
  const arns = [...own.map((role) => role.roleArn), ...further.map((each) => each.arn)];
  return { linux, windows, further, arns };
}

function linuxRole(scope: Construct, { nodeRole }: JoinerProps, cluster: string): iam.IRole {
  if (typeof nodeRole === 'string') {
    return iam.Role.fromRoleArn(scope, 'NodeRole', nodeRole, { mutable: false });
  }
  return nodeRole ?? new NodeRole(scope, 'Nodes', { cluster, platform: 'linux' }).role;
}

/** Lets nodes of these roles join the cluster. */
export function admitNodes(
  access: ClusterAccess,
  { linux, windows, further }: NodeRoles,
  { nodeRole, nodeRoleEntry }: JoinerProps,
): void {
  const isAdmitted = nodeRole === undefined || nodeRoleEntry === true;
  if (isAdmitted) access.admitNodes('nodes', linux.roleArn, 'EC2_LINUX');
  if (windows !== undefined) access.admitNodes('windows-nodes', windows.roleArn, 'EC2_WINDOWS');
  if (nodeRoleEntry === false) return;
  for (const { id, arn } of further) {
    // EKS takes one entry for each role.
    if (isAdmitted && arn === linux.roleArn) continue;
    access.admitNodes(`nodes-${id}`, arn, 'EC2_LINUX');
  }
}
