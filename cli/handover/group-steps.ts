import { isOurs } from '../../shared/core/launch/node-classes.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { counted, someOf } from '../words.ts';
import { type Autoscaler, type NodesOfGroup, nodeGroupsOf } from './node-groups.ts';
import type { StepOutcome } from './run.ts';

/** What the steps from node groups are worked out from. */
export interface GroupPosition {
  readonly autoscalers: readonly Autoscaler[];
  readonly state: ClusterState;
  /** The EKS cluster's name, for the commands. */
  readonly cluster: string;
}

const MANAGED = 'eks.amazonaws.com/nodegroup';
const CORDONED = 'node.kubernetes.io/unschedulable';

/** What a step says: the command carries none of them out, so it only tells how far they are. */
type StepResult = Pick<StepOutcome, 'step' | 'what' | 'message' | 'commands'> & {
  readonly isDone: boolean;
};

/**
 * The steps by which the pods of node groups come to nodes of NodePools, each with its state in the
 * cluster, so that people can go on from anywhere. None where no node of a group is left.
 */
export function groupSteps(position: GroupPosition): readonly StepOutcome[] {
  const groups = nodeGroupsOf(position.state);
  if (groups.length === 0) return [];
  const ofGroups = groups.flatMap((group) => [
    cordoned(position, group),
    drained(position, group),
    shrunk(position, group),
  ]);
  return [pools(position, groups), ...stopped(position), ...ofGroups].map(outcome);
}

/** The steps back, each with its state in the cluster. None without a group or an autoscaler. */
export function groupStepsBack(position: GroupPosition): readonly StepOutcome[] {
  const groups = nodeGroupsOf(position.state);
  if (groups.length === 0 && position.autoscalers.length === 0) return [];
  const ofGroups = groups.map((group) => uncordoned(position, group));
  return [...ofGroups, ...started(position), ...poolsGone(position)].map(outcome);
}

/** What is next, and what no step can tell from the cluster. */
export function groupNext(steps: readonly StepOutcome[], isBack: boolean): readonly string[] {
  const first = steps.find(({ state }) => state === 'to do');
  if (first === undefined) return [];
  const size = isBack ? ['If groups were scaled down, scale them up first.'] : [];
  return [...size, `Next: ${first.step}. Then run the command again: it changes nothing itself.`];
}

function outcome({ isDone, ...told }: StepResult): StepOutcome {
  return { ...told, state: isDone ? 'done' : 'to do', advice: '' };
}

function pools({ state, cluster }: GroupPosition, groups: readonly NodesOfGroup[]): StepResult {
  const names = poolsOf(state);
  const managed = groups.filter(({ label }) => label === MANAGED);
  // eksctl alone knows its own groups.
  const files = [
    ...managed.map(({ group }) => `${group}.json`),
    ...(managed.length < groups.length ? ['cluster.yaml'] : []),
  ];
  return {
    step: 'pools',
    what: 'NodePools that take the place of the groups',
    isDone: names.length > 0,
    message: names.length === 0 ? '' : `NodePools ${someOf(names)}`,
    commands: [
      ...managed.map(
        ({ group }) =>
          `aws eks describe-nodegroup --cluster-name ${cluster} --nodegroup-name ${group} > ${group}.json`,
      ),
      `joiner convert -f ${files.join(' ')} > pools.yaml && kubectl apply -f pools.yaml`,
    ],
  };
}

function stopped({ autoscalers }: GroupPosition): readonly StepResult[] {
  return autoscalers.map(({ namespace, name, replicas }) => ({
    step: 'autoscaler',
    what: 'Cluster Autoscaler stops, so that only Joiner launches nodes for pending pods',
    isDone: replicas === 0,
    message: `Deployment ${namespace}/${name} has ${counted(replicas, 'replica')}`,
    commands: [`kubectl -n ${namespace} scale deployment ${name} --replicas 0`],
  }));
}

function started({ autoscalers }: GroupPosition): readonly StepResult[] {
  return autoscalers.map(({ namespace, name, replicas }) => ({
    step: 'autoscaler',
    what: 'Cluster Autoscaler launches nodes again',
    isDone: replicas > 0,
    message: `Deployment ${namespace}/${name} has ${counted(replicas, 'replica')}`,
    commands: [`kubectl -n ${namespace} scale deployment ${name} --replicas 1`],
  }));
}

function cordoned({ state }: GroupPosition, group: NodesOfGroup): StepResult {
  const nodes = nodesOf(state, group);
  const closed = nodes.filter(isCordoned).length;
  return {
    step: `cordon ${group.group}`,
    what: 'no further pod goes to the nodes of the group',
    isDone: closed === nodes.length,
    message: `${closed} of ${counted(nodes.length, 'node')} cordoned`,
    commands: [`kubectl cordon -l ${group.label}=${group.group}`],
  };
}

function uncordoned({ state }: GroupPosition, group: NodesOfGroup): StepResult {
  const nodes = nodesOf(state, group);
  const closed = nodes.filter(isCordoned).length;
  return {
    step: `uncordon ${group.group}`,
    what: 'pods go to the nodes of the group again',
    isDone: closed === 0,
    message: `${closed} of ${counted(nodes.length, 'node')} cordoned`,
    commands: [`kubectl uncordon -l ${group.label}=${group.group}`],
  };
}

function drained({ state }: GroupPosition, group: NodesOfGroup): StepResult {
  const names = new Set(nodesOf(state, group).map(({ name }) => name));
  const pods = state.objects.pods.filter((pod) => names.has(pod.nodeName ?? '') && hasToMove(pod));
  return {
    step: `drain ${group.group}`,
    what: 'the pods of the group move to nodes of NodePools',
    isDone: pods.length === 0,
    message: `${counted(pods.length, 'pod')} left that no DaemonSet owns`,
    commands: [
      `kubectl drain -l ${group.label}=${group.group} --ignore-daemonsets --delete-emptydir-data`,
    ],
  };
}

/** A group without nodes is not seen any more: of one that is seen, this is left to do. */
function shrunk({ cluster }: GroupPosition, { label, group, nodes }: NodesOfGroup): StepResult {
  const command =
    label === MANAGED
      ? `aws eks update-nodegroup-config --cluster-name ${cluster} --nodegroup-name ${group} --scaling-config minSize=0,desiredSize=0`
      : `eksctl scale nodegroup --cluster ${cluster} --name ${group} --nodes 0 --nodes-min 0`;
  return {
    step: `scale ${group}`,
    what: 'the group has no nodes',
    isDone: false,
    message: `${counted(nodes, 'node')}; after the drain`,
    commands: [command],
  };
}

/** Which NodePools took the place of the groups only people know: none is in the command. */
function poolsGone({ state }: GroupPosition): readonly StepResult[] {
  const names = poolsOf(state);
  const there = names.length === 0 ? '0 NodePools' : `there are ${someOf(names)}`;
  return [
    {
      step: 'pools',
      what: 'the NodePools that took the place of the groups go, with their nodes',
      isDone: names.length === 0,
      message: `delete those that took the place of the groups; ${there}`,
      commands: ['kubectl delete nodepool NAME'],
    },
  ];
}

/** Names of the NodePools that Joiner launches nodes of; EKS Auto Mode has its own. */
function poolsOf({ objects }: ClusterState): readonly string[] {
  const ours = objects.nodePools.filter(({ template }) => isOurs(template.nodeClassRef));
  return ours.map(({ name }) => name).sort();
}

function nodesOf({ objects }: ClusterState, { label, group }: NodesOfGroup) {
  return objects.nodes.filter(({ labels }) => labels[label] === group);
}

function isCordoned({ taints }: ClusterState['objects']['nodes'][number]): boolean {
  return taints.some(({ key }) => key === CORDONED);
}

/** What `kubectl drain --ignore-daemonsets` evicts. */
function hasToMove({ controller, isMirror, phase }: Pod): boolean {
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  return !isOver && !isMirror && controller?.kind !== 'DaemonSet';
}
