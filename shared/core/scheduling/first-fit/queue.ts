import { missing } from '../../missing.ts';
import { type Pod, podKey } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { compileProblem } from '../problem/compile.ts';
import { demandOf } from '../problem/demand.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { stateNodes } from '../problem/state-node.ts';
import { ladderOf, type Step } from './relaxations.ts';
import { softTaintsOf, withHardTaints } from './soft-taints.ts';

/**
 * A pod that waits, as the classes that it is of: with all preferences as rules, then with ever
 * fewer.
 */
export interface Queued {
  readonly pod: Pod;
  readonly steps: readonly PodClass[];
}

export interface Queue {
  /** Every preference is a rule in it; {@link Queued} says which classes are one pod's. */
  readonly problem: Problem;
  /** From which the problem is: with the pods of its classes. */
  readonly snapshot: ClusterSnapshot;
  /** In the order in which pods are placed. */
  readonly pods: readonly Queued[];
}

/** Greatest cpu request first, then memory, then age; the key makes the order total. */
function inOrder(a: Pod, b: Pod): number {
  const amounts = (name: string) =>
    amountOf(b.spec.requests, name) - amountOf(a.spec.requests, name);
  return (
    amounts('cpu') ||
    amounts('memory') ||
    a.createdAtMs - b.createdAtMs ||
    (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0) ||
    (podKey(a) < podKey(b) ? -1 : 1)
  );
}

/** A pod in the snapshot once for each step, so that each step becomes a class of the problem. */
interface PodVariants {
  readonly pod: Pod;
  readonly steps: readonly PodVariant[];
}

interface PodVariant {
  readonly pod: Pod;
  /** Its class says what spread constraints count nodes by; mostly the same pod. */
  readonly counted: Pod;
}

/** Stand-ins; pods with one spec and equal labels share those of later steps. */
class VariantsOfPods {
  readonly all: PodVariants[] = [];
  private readonly ladders = new Map<Pod['spec'], readonly Step[]>();
  private readonly shared = new Map<Pod['spec'], Map<string, PodVariants['steps']>>();
  private readonly ladder: (spec: Pod['spec']) => readonly Step[];

  constructor(ladder: (spec: Pod['spec']) => readonly Step[]) {
    this.ladder = ladder;
  }

  private ladderOf(spec: Pod['spec']): readonly Step[] {
    const known = this.ladders.get(spec);
    if (known !== undefined) return known;
    const ladder = this.ladder(spec);
    this.ladders.set(spec, ladder);
    return ladder;
  }

  add(pod: Pod): void {
    const ladder = this.ladderOf(pod.spec);
    const [first] = ladder;
    if (ladder.length === 1 && first?.spec === pod.spec) {
      this.all.push({ pod, steps: [{ pod, counted: pod }] });
      return;
    }
    const own = first === undefined || first.spec === pod.spec ? pod : { ...pod, spec: first.spec };
    const [shared, ...rest] = this.sharedBy(pod);
    const isCounted = shared === undefined || shared.counted === shared.pod;
    this.all.push({
      pod,
      steps: [{ pod: own, counted: isCounted ? own : shared.counted }, ...rest],
    });
  }

  private sharedBy(pod: Pod): PodVariants['steps'] {
    const byText = this.shared.get(pod.spec) ?? new Map<string, PodVariants['steps']>();
    this.shared.set(pod.spec, byText);
    // Volumes may be the pod's own.
    const own = pod.spec.volumes.length === 0 ? '' : podKey(pod);
    const text = JSON.stringify([pod.namespace, pod.labels, own]);
    const known = byText.get(text);
    if (known !== undefined) return known;
    const steps = this.ladderOf(pod.spec).map(({ spec, counted }, at) => {
      const variant = { ...pod, uid: `${pod.uid}/${at}`, spec };
      const isSame = counted === spec;
      return { pod: variant, counted: isSame ? variant : { ...variant, spec: counted } };
    });
    byText.set(text, steps);
    return steps;
  }
}

/** The pods to place in order, and the problem in which every preference of theirs is a rule. */
export function queueOf(snapshot: ClusterSnapshot, settings: SchedulingSettings): Queue {
  const leaving = stateNodes(snapshot).filter(({ isLeaving }) => isLeaving);
  const demand = demandOf(snapshot, leaving);
  const soft = softTaintsOf(snapshot);
  const variants = new VariantsOfPods((spec) => ladderOf(spec, settings, soft));
  for (const pod of demand.pods) variants.add(pod);
  const waiting = new Set(demand.pods);
  const pods = new Set(snapshot.pods.filter((pod) => !waiting.has(pod)));
  for (const each of variants.all.flatMap(({ steps }) => steps)) {
    pods.add(each.pod);
    pods.add(each.counted);
  }
  const ruled = withHardTaints({ ...snapshot, pods: [...pods] }, soft);
  const problem = compileProblem(ruled, { ...settings, preferencePolicy: 'Ignore' });
  const classOf = new Map(
    problem.classes.flatMap((podClass) => podClass.pods.map((pod) => [pod, podClass] as const)),
  );
  const classes = [...problem.classes];
  for (const { pod, counted } of variants.all.flatMap(({ steps }) => steps)) {
    const [podClass, affinityRule] = [classOf.get(pod), classOf.get(counted)?.affinityRule];
    if (pod === counted || podClass === undefined || affinityRule === undefined) continue;
    classes[podClass.id] = { ...podClass, affinityRule };
  }
  const placed = variants.all.map(({ pod, steps }) => ({
    pod,
    steps: steps.flatMap((each) => {
      const podClass = classOf.get(each.pod);
      return podClass === undefined ? [] : [classes[podClass.id] ?? missing(podClass.id)];
    }),
  }));
  return {
    problem: { ...problem, classes },
    snapshot: ruled,
    pods: placed.sort((a, b) => inOrder(a.pod, b.pod)),
  };
}
