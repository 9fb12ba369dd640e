import { type InstallPorts, install } from '../../../functions/install/install.ts';
import { manifests } from '../../../infra/bundle.ts';
import type { ClusterAccess } from '../../../shared/aws/cluster-access.ts';
import { asGroup, impatientClient } from './installer-clients.ts';
import type { ControlPlane } from './launch.ts';
import { clientOf } from './suite.ts';

const MINUTE_MS = 60_000;

const FACTS: ClusterAccess = {
  status: 'ACTIVE',
  authenticationMode: 'API',
  endpoint: '',
  caPem: '',
  isPublic: true,
  publicCidrs: ['0.0.0.0/0'],
  isPrivate: false,
  isAutoMode: false,
};

/** What the installer answers. */
export interface Outcome {
  readonly status: string;
  readonly reason: string;
}

/** How the installer is asked. */
interface Change {
  readonly isAutoMode?: boolean;
  readonly token?: string;
  /** Its rights are those of a group, not the admin's. */
  readonly group?: string;
  /** Requests until EKS has seen that it is the admin. */
  readonly late?: number;
  readonly manifests?: readonly object[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly oldProperties?: Readonly<Record<string, string>>;
}

/** Asks the installer, on this control plane, as CloudFormation does; what it gives back is added. */
export function installerOn(
  plane: () => ControlPlane,
  dropped: unknown[],
): (type: 'Create' | 'Update' | 'Delete', change?: Change) => Promise<Outcome> {
  return async (type: 'Create' | 'Update' | 'Delete', change: Change = {}): Promise<Outcome> => {
    const ports: InstallPorts = {
      region: 'eu-west-1',
      cloud: {
        describeCluster: async () => ({ ...FACTS, isAutoMode: change.isAutoMode ?? false }),
        removeObjects: async () => 0,
        wake: async () => {},
        dropAccess: async (entry) => void dropped.push(entry),
      },
      connect: () => {
        if (change.token !== undefined) return impatientClient(plane(), change.token);
        const { group, late } = change;
        if (late !== undefined) return asGroup(plane(), 'joiner:none', late);
        return group === undefined
          ? clientOf(plane(), 'joiner-install')
          : asGroup(plane(), group, Number.POSITIVE_INFINITY);
      },
      manifests: change.manifests ?? manifests(),
      put: async () => ({ status: 200 }),
      sleep: async () => {},
      log: () => {},
    };
    const event = {
      RequestType: type,
      ResponseURL: 'https://answers.example.com/',
      ResourceProperties: {
        Step: 'apply',
        Cluster: 'demo',
        Admin: String(change.group === undefined),
        ...change.properties,
      },
      OldResourceProperties: change.oldProperties ?? {},
    };
    return await install(ports, event, 2 * MINUTE_MS);
  };
}
