import { RESOURCES } from '../../shared/api/resources.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { type Line, ok, warn } from '../doctor/line.ts';
import { counted, someOf } from '../words.ts';

/** A Deployment of Cluster Autoscaler. */
export interface Autoscaler {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

/** Of `registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0`, or of a copy of it. */
const IMAGE = /(?:^|\/)cluster-autoscaler(?:-(?:amd64|arm64))?(?::|@|$)/;

/** Cluster Autoscaler, where the Deployment is its. */
export function autoscalerOf(deployment: unknown): Autoscaler | undefined {
  const metadata = property(deployment, 'metadata');
  const spec = property(deployment, 'spec');
  const containers = property(property(property(spec, 'template'), 'spec'), 'containers');
  const images = Array.isArray(containers)
    ? containers.map((each) => text(property(each, 'image')))
    : [];
  if (!images.some((image) => IMAGE.test(image))) return undefined;
  const replicas = property(spec, 'replicas');
  return {
    namespace: text(property(metadata, 'namespace')),
    name: text(property(metadata, 'name')),
    replicas: typeof replicas === 'number' ? replicas : 1,
  };
}

/** Every Deployment of Cluster Autoscaler, by namespace and name. */
export async function findAutoscalers(client: KubeClient): Promise<readonly Autoscaler[]> {
  let found: Autoscaler[] = [];
  await listEach(
    client,
    { resource: RESOURCES.deployments },
    {
      start: () => {
        found = [];
      },
      object: (each) => void found.push(...[autoscalerOf(each) ?? []].flat()),
    },
  );
  const key = ({ namespace, name }: Autoscaler): string => `${namespace}/${name}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Labels of EKS and eksctl that name the group of a node. */
const GROUP_LABELS = ['eks.amazonaws.com/nodegroup', 'alpha.eksctl.io/nodegroup-name'] as const;

/** As many ids as AWS takes in one call. */
const INSTANCES_SHOWN = 50;

/** Nodes of a node group. */
export interface NodesOfGroup {
  /** The label that all of its nodes have. */
  readonly label: (typeof GROUP_LABELS)[number];
  readonly group: string;
  readonly nodes: number;
}

/** The node groups that have nodes, by name. */
export function nodeGroupsOf({ objects }: ClusterState): readonly NodesOfGroup[] {
  const found = new Map<string, NodesOfGroup>();
  for (const { labels } of objects.nodes) {
    const label = GROUP_LABELS.find((each) => labels[each] !== undefined);
    if (label === undefined) continue;
    const group = labels[label] ?? '';
    const key = `${group}/${label}`;
    found.set(key, { label, group, nodes: (found.get(key)?.nodes ?? 0) + 1 });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Of nodes that are neither a NodePool's, nor of a group that their labels name. */
const OTHERWISE_OWNED = [
  ...GROUP_LABELS,
  'karpenter.sh/nodepool',
  'eks.amazonaws.com/compute-type',
];
const INSTANCE = /^aws:\/\/\/[^/]+\/(i-[0-9a-f]+)$/;

/** EC2 nodes of whose owner the labels say nothing, as those of a plain Auto Scaling group. */
export function checkOtherNodes({ objects }: ClusterState): readonly Line[] {
  const found = objects.nodes.flatMap(({ name, labels, providerId = '' }) => {
    const [, instance] = INSTANCE.exec(providerId) ?? [];
    const isOwned = OTHERWISE_OWNED.some((label) => labels[label] !== undefined);
    return instance === undefined || isOwned ? [] : [{ name, instance }];
  });
  if (found.length === 0) return [];
  const names = someOf(found.map(({ name }) => name).sort());
  const message = `of no NodePool and of no group that a label names: ${names}`;
  const ids = found.map(({ instance }) => instance).sort();
  const shown = ids.slice(0, INSTANCES_SHOWN).join(' ');
  const command = `aws autoscaling describe-auto-scaling-instances --instance-ids ${shown}`;
  return [warn('other nodes', message, `their Auto Scaling groups: ${command}`)];
}

/** What is said of Cluster Autoscaler and of node groups: nothing where there are none. */
export function checkNodeGroups(
  autoscalers: readonly Autoscaler[],
  groups: readonly NodesOfGroup[],
): readonly Line[] {
  const scalers = autoscalers.map(({ namespace, name, replicas }): Line => {
    const what = `Deployment ${namespace}/${name} with ${counted(replicas, 'replica')}`;
    if (replicas === 0) return ok('cluster autoscaler', what);
    const message = `${what} launches nodes for the same pending pods as Joiner`;
    const advice = `its node groups as NodePools: ${pageUrl('migrate/cluster-autoscaler.md')}`;
    return warn('cluster autoscaler', message, advice);
  });
  if (groups.length === 0) return scalers;
  const names = groups.map(({ group, nodes }) => `${group} (${counted(nodes, 'node')})`);
  return [...scalers, ok('node groups', `${names.join(', ')}: Joiner never changes their nodes`)];
}
