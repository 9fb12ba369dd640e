import type * as iam from '@aws-sdk/client-iam';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import { handle } from './handle.ts';

export interface ModelProfile {
  readonly name: string;
  readonly path: string;
  readonly tags: readonly iam.Tag[];
  readonly roles: string[];
  readonly madeAtMs?: number;
}

interface Named {
  readonly InstanceProfileName?: string | undefined;
  readonly RoleName?: string | undefined;
}

/** Instance profiles: at most one role each, deleted only when empty. https://docs.aws.amazon.com/IAM/latest/APIReference/API_DeleteInstanceProfile.html */
export class ProfileModel {
  readonly profiles = new Map<string, ModelProfile>();
  /** Roles that exist; undefined: all do. */
  roles: ReadonlySet<string> | undefined;
  pageSize = 100;
  /** Reads know of a profile so long after it was made. */
  lagMs = 0;
  nowMs: () => number = () => 0;

  private read(named: Named): iam.InstanceProfile {
    const found = this.find(named);
    const isSeen = this.nowMs() >= (found.madeAtMs ?? 0) + this.lagMs;
    return this.described(isSeen ? found : this.find({ InstanceProfileName: '' }));
  }

  private find({ InstanceProfileName = '' }: Named): ModelProfile {
    const found = this.profiles.get(InstanceProfileName);
    if (found !== undefined) return found;
    const message = `Instance Profile ${InstanceProfileName} cannot be found.`;
    throw new WireFault('NoSuchEntity', message, 404);
  }

  private create(request: iam.CreateInstanceProfileRequest) {
    const { InstanceProfileName: name = '', Path: path = '/', Tags = [] } = request;
    if (this.profiles.has(name)) {
      throw new WireFault('EntityAlreadyExists', `Instance Profile ${name} already exists.`, 409);
    }
    this.profiles.set(name, { name, path, tags: Tags, roles: [], madeAtMs: this.nowMs() });
    return { InstanceProfile: this.described(this.find(request)) };
  }

  private described({ name, path, tags, roles }: ModelProfile): iam.InstanceProfile {
    const CreateDate = new Date(0);
    const role = (RoleName: string): iam.Role => ({
      RoleName,
      RoleId: 'AROA',
      Path: '/',
      Arn: `arn:aws:iam::111122223333:role/${RoleName}`,
      CreateDate,
    });
    return {
      InstanceProfileName: name,
      InstanceProfileId: 'AIPA',
      Path: path,
      Arn: `arn:aws:iam::111122223333:instance-profile${path}${name}`,
      CreateDate,
      Roles: roles.map(role),
      Tags: [...tags],
    };
  }

  /** One by one where `pageSize` says so. */
  private list(request: iam.ListInstanceProfilesRequest): iam.ListInstanceProfilesResponse {
    const { PathPrefix = '/', Marker = '0' } = request;
    const all = [...this.profiles.values()].filter(({ path }) => path.startsWith(PathPrefix));
    const end = Number(Marker) + this.pageSize;
    const InstanceProfiles = all.slice(Number(Marker), end).map((each) => this.described(each));
    const isTruncated = end < all.length;
    return {
      InstanceProfiles,
      IsTruncated: isTruncated,
      ...(isTruncated ? { Marker: String(end) } : {}),
    };
  }

  private addRole(request: Named) {
    const { RoleName = '' } = request;
    const profile = this.find(request);
    if (this.roles?.has(RoleName) === false) {
      throw new WireFault('NoSuchEntity', `The role ${RoleName} cannot be found.`, 404);
    }
    if (profile.roles.length > 0) {
      const message = 'Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1';
      throw new WireFault('LimitExceeded', message, 409);
    }
    profile.roles.push(RoleName);
    return {};
  }

  private removeRole(request: Named) {
    const { roles } = this.find(request);
    const at = roles.indexOf(request.RoleName ?? '');
    if (at < 0) throw new WireFault('NoSuchEntity', 'The role cannot be found.', 404);
    roles.splice(at, 1);
    return {};
  }

  private remove(request: Named) {
    const { name, roles } = this.find(request);
    if (roles.length > 0) throw new WireFault('DeleteConflict', 'Remove roles first.', 409);
    this.profiles.delete(name);
    return {};
  }

  handlers(): Handlers {
    return {
      GetInstanceProfile: handle<Named, iam.GetInstanceProfileCommandOutput>((request) => ({
        InstanceProfile: this.read(request),
      })),
      ListInstanceProfiles: handle<
        iam.ListInstanceProfilesRequest,
        iam.ListInstanceProfilesResponse
      >((request) => this.list(request)),
      CreateInstanceProfile: handle<
        iam.CreateInstanceProfileRequest,
        iam.CreateInstanceProfileCommandOutput
      >((request) => this.create(request)),
      AddRoleToInstanceProfile: handle<Named, object>((request) => this.addRole(request)),
      RemoveRoleFromInstanceProfile: handle<Named, object>((request) => this.removeRole(request)),
      DeleteInstanceProfile: handle<Named, object>((request) => this.remove(request)),
    };
  }
}
