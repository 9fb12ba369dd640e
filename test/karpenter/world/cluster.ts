import type { Tag } from '@aws-sdk/client-ec2';
import { RESOURCES } from '../../../shared/api/resources.ts';
import { aliasParameters } from '../../../shared/core/launch/image-families/families.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ensureNamespace } from '../../contract/kube-objects.ts';
import { FUNCTION_GROUPS } from '../../support/authorisation/rights.ts';
import { CLUSTER, type WireCloud } from '../../support/aws/cloud.ts';
import { furnish, IMAGES } from '../../support/aws/furnish.ts';
import type { Account } from '../../support/aws/model/account.ts';
import { KEYS, REGION } from '../../support/closed-loop/functions.ts';
import { findAssets, kubernetesRelease } from '../../support/control-plane/assets.ts';
import { establishCrds, ourCrds } from '../../support/control-plane/crds.ts';
import { type ControlPlane, launchControlPlane } from '../../support/control-plane/launch.ts';
import { applyRights } from '../../support/control-plane/manifests.ts';
import { clientOf } from '../../support/control-plane/suite.ts';
import { startTokenWebhook } from '../../support/control-plane/token-webhook.ts';

const BOOT_MS = 1_000;
const SHUTDOWN_MS = 5_000;

export interface Cluster {
  readonly plane: ControlPlane;
  readonly admin: KubeClient;
  stop(): Promise<void>;
}

/** A control plane that knows our identity, with our CRDs and rights, and an account for it. */
export async function startCluster(cloud: WireCloud): Promise<Cluster> {
  const kubernetes = kubernetesRelease(process.env);
  const assets = await findAssets();
  if (assets.kind === 'absent') throw new Error(assets.reason);
  const identity = { ...KEYS, username: 'joiner', groups: FUNCTION_GROUPS };
  const webhook = await startTokenWebhook(CLUSTER, REGION, [identity]);
  const plane = await launchControlPlane(assets.folder, {
    tokenWebhookUrl: webhook.url,
    controllerRate: 'default',
    beforeControllers: async (started) => {
      const installer = clientOf(started, 'suite-installer');
      await establishCrds(installer, await ourCrds());
      await installer.close();
    },
  });
  const admin = clientOf(plane, 'suite-world');
  await furnish(cloud.account, kubernetes);
  cloud.account.bootMs = BOOT_MS;
  cloud.account.shutdownMs = SHUTDOWN_MS;
  nameNetwork(cloud.account);
  offerImages(cloud.account, kubernetes);
  offerOlder(cloud.account, kubernetes);
  await cloud.start();
  cloud.cluster = {
    ...cloud.cluster,
    version: kubernetes,
    endpoint: plane.url,
    certificateAuthority: { data: Buffer.from(plane.caPem).toString('base64') },
  };
  await ensureNamespace(admin, 'default');
  await ensureNamespace(admin, 'kube-system');
  await applyRights(admin);
  await applySecurityGroupPolicies(admin);
  return {
    plane,
    admin,
    stop: async () => {
      await admin.close();
      await plane.stop();
      await webhook.close();
      await cloud.stop();
    },
  };
}

/** AWS's suites select subnets and groups by their names, and at least two groups. */
function nameNetwork(account: Account): void {
  const named = (name: string, tags: readonly Tag[] = []): Tag[] => {
    return [...tags, { Key: 'Name', Value: name }];
  };
  account.subnets = account.subnets.map((each) => {
    return { ...each, Tags: named(`${CLUSTER}-${each.AvailabilityZone}`, each.Tags) };
  });
  const groups = account.securityGroups.map((each) => {
    return { ...each, Tags: named(`${CLUSTER}-nodes`, each.Tags) };
  });
  const Tags = named(`${CLUSTER}-more`, [{ Key: 'karpenter.sh/discovery', Value: CLUSTER }]);
  const second = { GroupId: 'sg-0000000000000000b', GroupName: `${CLUSTER}-more`, Tags };
  account.securityGroups = [...groups, second];
}

const MORE_ALIASES = ['bottlerocket', 'windows2019', 'windows2022', 'windows2025'];

const OLDER = { x86_64: 'ami-0123456789abcdef2', arm64: 'ami-0123456789abcdef3' } as const;

/** Images of AL2023 for the release before: AWS's suites drift away from them. */
function offerOlder(account: Account, kubernetes: string): void {
  const [major = '', minor = ''] = kubernetes.split('.');
  const before = `${major}.${Number(minor) - 1}`;
  const ids = new Map<string | undefined, string>([
    [IMAGES.x86_64, OLDER.x86_64],
    [IMAGES.arm64, OLDER.arm64],
  ]);
  const CreationDate = '2025-12-01T00:00:00.000Z';
  const older = account.images.flatMap((image) => {
    const ImageId = ids.get(image.ImageId);
    const Name = image.Name?.replace(kubernetes, before);
    return ImageId === undefined ? [] : [{ ...image, ImageId, Name, CreationDate }];
  });
  account.images = [...account.images, ...older];
  for (const [arch, id] of Object.entries(OLDER)) {
    const folder = `/aws/service/eks/optimized-ami/${before}/amazon-linux-2023/${arch}/standard`;
    account.parameters.set(`${folder}/recommended/image_id`, id);
  }
}

/** Images of the families that AWS's suites launch beside AL2023. */
function offerImages({ parameters }: Account, kubernetes: string): void {
  for (const family of MORE_ALIASES) {
    const found = aliasParameters(`${family}@latest`, kubernetes);
    if (!found.ok) throw new Error(found.message);
    for (const { name } of found.parameters) {
      parameters.set(name, name.includes('arm64') ? IMAGES.arm64 : IMAGES.x86_64);
    }
  }
}

/** AWS's suites delete objects of the VPC resource controller after each case: the kind has to be. */
async function applySecurityGroupPolicies(admin: KubeClient): Promise<void> {
  const name = 'securitygrouppolicies.vpcresources.k8s.aws';
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await admin.apply(
    RESOURCES.customResourceDefinitions,
    { name },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: 'vpcresources.k8s.aws',
        scope: 'Namespaced',
        names: {
          kind: 'SecurityGroupPolicy',
          listKind: 'SecurityGroupPolicyList',
          plural: 'securitygrouppolicies',
          singular: 'securitygrouppolicy',
        },
        versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    },
  );
}
