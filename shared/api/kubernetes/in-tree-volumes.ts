import type { Reader } from '../read.ts';

/**
 * Kubernetes serves volumes of its old in-tree EBS plugin by the CSI driver, and kube-scheduler
 * counts them against that driver's limit. They are translated where they are read, so that nothing
 * further in knows of them.
 */
const EBS_IN_TREE = 'kubernetes.io/aws-ebs';
const EBS_CSI = 'ebs.csi.aws.com';
const MIGRATED_TO = 'pv.kubernetes.io/migrated-to';

/** A volume as its CSI driver knows it. */
export interface AttachedVolume {
  readonly driver: string;
  readonly volume: string | undefined;
}

/** The CSI driver that serves a StorageClass's provisioner. */
export function driverOfProvisioner(provisioner: string): string {
  return provisioner === EBS_IN_TREE ? EBS_CSI : provisioner;
}

/** `awsElasticBlockStore` of a pod or a PersistentVolume: its id is `vol-1` or `aws://zone/vol-1`. */
export function readInTreeEbs(
  read: Reader,
  value: unknown,
  path: string,
): AttachedVolume | undefined {
  if (value === undefined || value === null) return undefined;
  const id = read.text(read.fields(value, path)['volumeID'], `${path}.volumeID`);
  return { driver: EBS_CSI, volume: id?.slice(id.lastIndexOf('/') + 1) };
}

/** Of a PersistentVolume of some in-tree plugin: the driver that has taken it over. */
export function migratedVolume(
  annotations: Readonly<Record<string, string>>,
): AttachedVolume | undefined {
  const driver = annotations[MIGRATED_TO];
  return driver === undefined ? undefined : { driver, volume: undefined };
}
