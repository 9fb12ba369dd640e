import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  type IAMClient,
  type InstanceProfile,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';
import { sha256 } from '../core/launch/sha256.ts';
import { NODE_CLASS, REGION } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { Profiles } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Calls } from './calls.ts';
import { tagsOf } from './tags.ts';

export interface ProfileParts {
  readonly iam: IAMClient;
  readonly calls: Calls;
  readonly cluster: string;
  readonly region: string;
  /** No call of IAM: classes have to name their profile (`ISOLATED_VPC`). */
  readonly isolated: boolean;
}

/** A profile's name has at most 128 characters. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html */
const CLUSTER_LENGTH_MAX = 100;

async function unlessCoded(codes: readonly string[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PortError) || !codes.includes(error.code)) throw error;
  }
}

/** Instance profiles made for classes that name a role. */
export class IamProfiles implements Profiles {
  private readonly parts: ProfileParts;

  constructor(parts: ProfileParts) {
    this.parts = parts;
  }

  async ensure(nodeClass: NodeClass): Promise<string> {
    const { cluster, region, isolated } = this.parts;
    const { role } = nodeClass;
    if (isolated || role === undefined) {
      const message = 'without a way to IAM spec.instanceProfile has to be set';
      throw new PortError('unknown', 'InstanceProfileRequired', message);
    }
    const name = this.nameOf(nodeClass);
    const profile = (await this.find(name)) ?? (await this.create(name, nodeClass));
    // A role may be given with its path; a profile knows it by its name.
    const wanted = role.split('/').at(-1) ?? role;
    const others = (profile.Roles ?? []).flatMap((each) => each.RoleName ?? []);
    if (others.includes(wanted)) return name;
    for (const each of others) await this.removeRole(name, each);
    const { iam, calls } = this.parts;
    const command = new AddRoleToInstanceProfileCommand({
      InstanceProfileName: name,
      RoleName: wanted,
    });
    try {
      await calls.run('iam:AddRoleToInstanceProfile', () => iam.send(command));
    } catch (error) {
      if (!(error instanceof PortError) || error.kind !== 'not-found') throw error;
      const place = `${cluster} in ${region}`;
      const message = `role "${wanted}" of EC2NodeClass ${nodeClass.name} is not there (${place})`;
      throw new PortError('not-found', error.code, message, { cause: error });
    }
    return name;
  }

  async remove(nodeClass: NodeClass): Promise<void> {
    if (this.parts.isolated) return;
    const name = this.nameOf(nodeClass);
    const profile = await this.find(name);
    if (profile === undefined) return;
    for (const { RoleName } of profile.Roles ?? []) {
      if (RoleName !== undefined) await this.removeRole(name, RoleName);
    }
    const { iam, calls } = this.parts;
    const command = new DeleteInstanceProfileCommand({ InstanceProfileName: name });
    await unlessCoded(['NoSuchEntity', 'NoSuchEntityException'], () =>
      calls.run('iam:DeleteInstanceProfile', () => iam.send(command)),
    );
  }

  /** One for each class of each cluster and region; IAM has no regions. */
  private nameOf(nodeClass: NodeClass): string {
    const { cluster, region } = this.parts;
    const hash = sha256(`${region}/${cluster}/${nodeClass.name}`).slice(0, 20);
    return `${cluster.slice(0, CLUSTER_LENGTH_MAX)}_${hash}`;
  }

  private async find(name: string): Promise<InstanceProfile | undefined> {
    const { iam, calls } = this.parts;
    const command = new GetInstanceProfileCommand({ InstanceProfileName: name });
    try {
      const { InstanceProfile } = await calls.run('iam:GetInstanceProfile', () =>
        iam.send(command),
      );
      return InstanceProfile;
    } catch (error) {
      if (error instanceof PortError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }

  /** Where another run has just made it, it is taken as that run left it: empty. */
  private async create(name: string, nodeClass: NodeClass): Promise<InstanceProfile> {
    const { iam, calls, cluster, region } = this.parts;
    const tags = {
      ...nodeClass.tags,
      [`kubernetes.io/cluster/${cluster}`]: 'owned',
      'eks:eks-cluster-name': cluster,
      [NODE_CLASS]: nodeClass.name,
      [REGION]: region,
    };
    const command = new CreateInstanceProfileCommand({
      InstanceProfileName: name,
      Path: `/karpenter/${region}/${cluster}/${nodeClass.uid}/`,
      Tags: tagsOf(tags).map(({ Key = '', Value = '' }) => ({ Key, Value })),
    });
    await unlessCoded(['EntityAlreadyExists', 'EntityAlreadyExistsException'], () =>
      calls.run('iam:CreateInstanceProfile', () => iam.send(command)),
    );
    const found = await this.find(name);
    if (found !== undefined) return found;
    throw new PortError('not-found', 'NoSuchEntity', `instance profile ${name} is not visible yet`);
  }

  private async removeRole(name: string, role: string): Promise<void> {
    const { iam, calls } = this.parts;
    const command = new RemoveRoleFromInstanceProfileCommand({
      InstanceProfileName: name,
      RoleName: role,
    });
    await unlessCoded(['NoSuchEntity', 'NoSuchEntityException'], () =>
      calls.run('iam:RemoveRoleFromInstanceProfile', () => iam.send(command)),
    );
  }
}
