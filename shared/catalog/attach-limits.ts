import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import type { MachineFacts } from './facts.ts';
import type { LaunchSettings } from './settings.ts';

export const EBS_CSI_DRIVER = 'ebs.csi.aws.com';

/** On Xen a Linux instance with more than this, its root volume included, may fail to boot. */
const XEN_LIMIT = 39;
/** What the driver takes for a type that it does not list: 28, less one network interface. */
export const SHARED_LIMIT = 27;

/**
 * How many EBS volumes pods can attach on a node, as the driver reports it in the node's CSINode,
 * which kube-scheduler goes by: the limit of EC2 for the type, less the volumes that the node
 * starts with. Where volumes share it with network interfaces, each interface beyond the first is
 * taken off; those that the VPC CNI attaches before the driver starts are not known here.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/volume_limits.html
 * https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.64.0/pkg/driver/node.go
 */
export function attachLimitsOf(
  facts: MachineFacts,
  settings: LaunchSettings,
): Readonly<Record<string, number>> {
  const { defaultVolumes } = IMAGE_FAMILIES[settings.imageFamily];
  // An instance has a root volume at least.
  const started = Math.max(1, settings.blockDevices.length, defaultVolumes.length);
  const { most, isShared } = ebsAttachmentsOf(facts);
  const interfaces = isShared ? Math.max(1, settings.networkInterfaces?.length ?? 1) : 1;
  // The driver reports no less: to Kubernetes 0 means that there is no limit.
  return { [EBS_CSI_DRIVER]: Math.max(1, most - started - (interfaces - 1)) };
}

function ebsAttachmentsOf({ hypervisor, ebsAttachments }: MachineFacts) {
  // EC2 calls this limit shared, and the driver does not.
  if (hypervisor === 'xen') return { most: XEN_LIMIT, isShared: false };
  return ebsAttachments ?? { most: SHARED_LIMIT, isShared: true };
}
