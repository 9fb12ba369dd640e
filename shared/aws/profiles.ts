import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  type IAMClient,
  type InstanceProfile,
  ListInstanceProfilesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';
import { roleMark } from '../core/launch/profile-roles.ts';
import { sha256 } from '../core/launch/sha256.ts';
import { NODE_CLASS, REGION } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { Profiles } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';
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
const CLUSTER_LENGTH_MAX = 90;
/** Names without the role, as they were before, had room for more of the cluster's. */
const CLUSTER_LENGTH_MAX_BEFORE = 100;

async function unlessCoded(codes: readonly string[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PortError) || !codes.includes(error.code)) throw error;
  }
}

/**
 * Instance profiles made for classes that name a role, one for each role. A profile that exists
 * never loses its role while its class is there: nodes that run with it would lose their
 * credentials at once, or change who they are. Another role is another profile, and the new hash of
 * the class replaces the nodes. Profiles of earlier roles go with the class, when it has no claims
 * any more, and not before: which of them a node runs with is not known for sure from its claim.
 */
export class IamProfiles implements Profiles {
  private readonly parts: ProfileParts;

  constructor(parts: ProfileParts) {
    this.parts = parts;
  }

  async ensure(nodeClass: NodeClass): Promise<string> {
    const { role, instanceProfile } = nodeClass;
    if (instanceProfile !== undefined) return await this.named(instanceProfile);
    if (this.parts.isolated || role === undefined) {
      const message = 'with isolatedVpc spec.instanceProfile must be set';
      throw new PortError('invalid', 'InstanceProfileRequired', message);
    }
    // A role may be given with its path; a profile knows it by its name.
    const wanted = role.split('/').at(-1) ?? role;
    const name = this.nameOf(nodeClass, wanted);
    const profile = (await this.find(name)) ?? (await this.create(name, nodeClass));
    const [other] = (profile.Roles ?? []).flatMap((each) => each.RoleName ?? []);
    if (other === wanted) return name;
    if (other !== undefined) {
      const message = `instance profile ${name} has role "${other}" instead of "${wanted}": put it back`;
      throw new PortError('invalid', 'InstanceProfileRoleChanged', message);
    }
    await this.addRole(name, wanted, nodeClass);
    return name;
  }

  /** Launches do not need IAM: only what it says for sure keeps a class from being used. */
  private async named(name: string): Promise<string> {
    if (this.parts.isolated) return name;
    let found: InstanceProfile | undefined;
    try {
      found = await this.find(name);
    } catch (error) {
      if (error instanceof PortError) return name;
      throw error;
    }
    if (found !== undefined) return name;
    const message = `there is no instance profile "${name}"`;
    throw new PortError('not-found', 'InstanceProfileNotFound', message);
  }

  /** All of the class's, under every role that it has had. */
  async remove(nodeClass: NodeClass): Promise<void> {
    if (this.parts.isolated) return;
    for (const { InstanceProfileName: name = '', Roles = [] } of await this.allOf(nodeClass)) {
      for (const { RoleName } of Roles) {
        if (RoleName !== undefined) await this.removeRole(name, RoleName);
      }
      const { iam, calls } = this.parts;
      const command = new DeleteInstanceProfileCommand({ InstanceProfileName: name });
      await unlessCoded(['NoSuchEntity', 'NoSuchEntityException'], () =>
        calls.run('iam:DeleteInstanceProfile', () => iam.send(command)),
      );
    }
  }

  /** By name, not by the path's uid: a class of that name before this one may have left some. */
  private async allOf({ name: className }: NodeClass): Promise<readonly InstanceProfile[]> {
    const { iam, calls, cluster, region } = this.parts;
    const hash = this.hashOf(className);
    const start = `${cluster.slice(0, CLUSTER_LENGTH_MAX)}_${hash}_`;
    const before = `${cluster.slice(0, CLUSTER_LENGTH_MAX_BEFORE)}_${hash}`;
    const all = await allPages(async (token) => {
      const PathPrefix = `/karpenter/${region}/${cluster}/`;
      const command = new ListInstanceProfilesCommand({ PathPrefix, Marker: token });
      const page = await calls.run('iam:ListInstanceProfiles', () => iam.send(command));
      return { items: page.InstanceProfiles, next: page.Marker };
    });
    return all.filter(
      ({ InstanceProfileName: name = '' }) => name === before || name.startsWith(start),
    );
  }

  private async addRole(name: string, wanted: string, nodeClass: NodeClass): Promise<void> {
    const { iam, calls, cluster, region } = this.parts;
    const command = new AddRoleToInstanceProfileCommand({
      InstanceProfileName: name,
      RoleName: wanted,
    });
    try {
      await calls.run('iam:AddRoleToInstanceProfile', () => iam.send(command));
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      if (error.code.startsWith('LimitExceeded')) {
        // It holds one role, and IAM tells late of one that another run has just put there.
        const message = `instance profile ${name} has a role that is not visible yet`;
        throw new PortError('unknown', error.code, message, { cause: error });
      }
      if (error.kind !== 'not-found') throw error;
      if (/instance profile/i.test(error.message)) {
        const message = `instance profile ${name} is not visible yet`;
        throw new PortError('not-found', error.code, message, { cause: error, isTransient: true });
      }
      const place = `${cluster} in ${region}`;
      const message = `role "${wanted}" of EC2NodeClass ${nodeClass.name} is not there (${place})`;
      throw new PortError('not-found', error.code, message, { cause: error });
    }
  }

  /** One for each role of each class of each cluster and region; IAM has no regions. */
  private nameOf({ name }: NodeClass, role: string): string {
    const start = `${this.parts.cluster.slice(0, CLUSTER_LENGTH_MAX)}_${this.hashOf(name)}`;
    return `${start}_${roleMark(role)}`;
  }

  private hashOf(className: string): string {
    const { cluster, region } = this.parts;
    return sha256(`${region}/${cluster}/${className}`).slice(0, 20);
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

  /**
   * IAM tells late of what it has made: its answer says it. Where another run has just made it, it
   * is taken as that run left it: empty.
   */
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
    let found: InstanceProfile | undefined;
    await unlessCoded(['EntityAlreadyExists', 'EntityAlreadyExistsException'], async () => {
      const answer = await calls.run('iam:CreateInstanceProfile', () => iam.send(command));
      found = answer.InstanceProfile;
    });
    found ??= await this.find(name);
    if (found !== undefined) return found;
    const message = `instance profile ${name} is not visible yet`;
    throw new PortError('not-found', 'NoSuchEntity', message, { isTransient: true });
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
